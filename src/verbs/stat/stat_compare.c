/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/stat/stat_compare.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "cli/cli.h"
#include "kernel/counting/run_statistics.h"
#include "tasks/counts/stat_number.h"
#include "verbs/stat/stat_reasons.h"

#define RUNS_DEFAULT	      10
#define STAT_COMPARE_RUNS_MAX 1000 /* all pairs of runs are looked at */
#define STAT_COMPARE_SIDES    2
#define LEAST_P		      0.0001 /* that is told */

static const char side_names[STAT_COMPARE_SIDES] = {'A', 'B'};

int stat_compare_options(
	const struct cli *cli, const struct command *command, int argc, char **argv, int rest, struct stat_settings *s)
{
	if (rest >= argc)
		return cli_usagef(cli, command, "compare",
			"--compare needs two command lines, each quoted as one "
			"argument");
	if (rest + 1 < argc) {
		int more;
		int exit_code = cli_parse_options(cli, command, argc - rest, argv + rest, s, &more);
		if (exit_code != CLI_GO_ON)
			return exit_code;
		if (more < argc - rest)
			return cli_usagef(cli, command, "compare",
				"unexpected argument '%s': quote each command line of --compare as one argument",
				argv[rest + more]);
	}
	if (s->counting.target.pids || s->counting.target.tids || s->counting.target.system_wide ||
		s->counting.target.cpus || s->counting.target.per_thread || s->events.for_each_cgroup)
		return cli_usagef(cli, command, "compare", "--compare counts its commands, not other targets");
	if (s->counting.interval_ms || s->counting.timeout_ms || s->counting.delay_ms || s->counting.control.is_given)
		return cli_usagef(cli, command, "compare",
			"--compare counts whole runs: it cannot be used with -I, -D, --timeout or --control");
	if (s->view.separator || s->view.has_table || s->counting.has_statistics || s->view.has_metrics_only)
		return cli_usagef(cli, command, "compare",
			"--compare prints text or JSON (-j), without -x, --table, --stats, --metric-only");
	if (s->counting.pre || s->counting.post || s->counting.does_sync)
		return cli_usagef(
			cli, command, "compare", "--pre, --post and --sync are not supported yet with --compare");
	if (s->counting.runs == 0 || s->counting.runs > STAT_COMPARE_RUNS_MAX)
		return cli_usagef(
			cli, command, "repeat", "--compare runs each side 2 to %d times", STAT_COMPARE_RUNS_MAX);
	if (s->counting.runs == 1)
		s->counting.runs = RUNS_DEFAULT;
	return 0;
}

struct side {
	char *words[4]; /* sh -c LINE */
	struct stat_job job;
	struct stat_failures failures;
	struct stat_session last; /* its last run: what it says of the events */
};

static enum tally_status side_run(
	struct stat_session *session, struct side *side, struct stat_values *values, struct tally_error *err)
{
	struct stat_session single = {.kernel = session->kernel,
		.job = &side->job,
		.target = session->target,
		.events = session->events,
		.values = values,
		.leaves_failures_out = true,
		.failures = side->failures};
	enum tally_status status = stat_run(&single, NULL, NULL, err);
	session->signal = single.signal;
	side->failures = single.failures;
	stat_session_deinit(&side->last);
	side->last = single;
	return status;
}

struct compared {
	const struct stat_values *values; /* of A */
	const struct side *sides;
	bool has_failures; /* runs of a side failed: there is no verdict */
	size_t column;
	size_t len[STAT_COMPARE_SIDES];
	double median[STAT_COMPARE_SIDES];
	double share; /* the least, of both */
	struct run_comparison comparison;
};

static const char *stat_compare_verdict(const struct compared *row)
{
	const struct stat_values *values = row->values;
	const struct run_comparison *c = &row->comparison;
	size_t column = row->column;
	bool is_time = strcmp(stat_values_unit(values, column), "msec") == 0;
	if (row->has_failures)
		return "no verdict";
	if (!c->interval.is_known)
		return "too few runs to tell";
	if (c->sign == 0)
		return "no difference shown";
	if (column == values->events->len + STAT_TIME_ELAPSED)
		return c->sign < 0 ? "B is faster" : "A is faster";
	if (is_time)
		return c->sign < 0 ? "B takes less" : "A takes less";
	return c->sign < 0 ? "B counts fewer" : "A counts fewer";
}

static void percent_append(struct text *t, const struct stat_style *style, double part, double whole)
{
	size_t start = t->len;
	text_str(t, part > 0 ? "+" : "");
	stat_number(t, style->decimal, 100 * part / whole, 2, 0);
	text_char(t, '%');
	text_align_from(t, start, 10);
}

static bool is_supported(const struct compared *row, int side)
{
	const bool *supported = row->sides[side].last.supported;
	return !supported || row->column >= row->values->events->len || supported[row->column];
}

static void stat_compare_row_print(struct text *t, const struct compared *row, const struct stat_style *style)
{
	const struct run_comparison *c = &row->comparison;
	for (int side = 0; side < STAT_COMPARE_SIDES; side++)
		if (row->len[side])
			stat_values_number(t, row->values, row->column, row->median[side], style);
		else
			text_str_right(t, is_supported(row, side) ? STR("<not counted>") : STR("<not supported>"),
				STAT_NUMBER_WIDTH);
	text_printf(t, " %-4s ", stat_values_unit(row->values, row->column));
	text_str_left(t, str_from(stat_values_name(row->values, row->column)), 24);
	if (row->len[0] && row->len[1]) {
		if (row->median[0] > 0) {
			percent_append(t, style, c->shift, row->median[0]);
			if (c->interval.is_known) {
				percent_append(t, style, c->interval.low, row->median[0]);
				text_str(t, " ..");
				percent_append(t, style, c->interval.high, row->median[0]);
			}
		}
		text_printf(t, "  %s, p ", stat_compare_verdict(row));
		text_str(t, c->p < LEAST_P ? "< " : "");
		stat_number(t, style->decimal, MAX(c->p, LEAST_P), 4, 0);
	}
	if (row->share < 100) {
		text_str(t, "  (scaled: counted for ");
		stat_number(t, style->decimal, row->share, 1, 0);
		text_str(t, "% of the time at least)");
	}
	text_char(t, '\n');
}

static void stat_compare_row_json(struct text *t, const struct compared *row)
{
	const struct run_comparison *c = &row->comparison;
	struct json j = {.out = t, .is_compact = true};
	json_object(&j, NULL);
	json_string(&j, "kind", STR("comparison"));
	stat_values_json_name(&j, row->values, row->column);
	json_u64(&j, "runs-a", row->len[0]);
	json_u64(&j, "runs-b", row->len[1]);
	if (row->len[0] && row->len[1]) {
		json_fixed(&j, "median-a", row->median[0], 6);
		json_fixed(&j, "median-b", row->median[1], 6);
		json_fixed(&j, "shift", c->shift, 6);
		if (c->interval.is_known) {
			json_fixed(&j, "shift-low", c->interval.low, 6);
			json_fixed(&j, "shift-high", c->interval.high, 6);
			json_fixed(&j, "coverage", c->interval.coverage, 6);
		}
		json_fixed(&j, "p", c->p, 9);
		json_bool(&j, "p-is-exact", c->is_exact);
		json_string(&j, "less",
			row->has_failures || !c->interval.is_known ? STR("unknown")
			: c->sign == 0				   ? STR("neither")
			: c->sign < 0				   ? STR("B")
								   : STR("A"));
	}
	json_fixed(&j, "least-running-percent", row->share, 2);
	json_object_end(&j);
}

/* The rows for what has been measured of both. */
static enum tally_status compared_print(struct text *t, const struct side sides[STAT_COMPARE_SIDES],
	const struct stat_values values[STAT_COMPARE_SIDES], const struct stat_style *style, struct tally_error *err)
{
	bool has_failures = sides[0].failures.failed || sides[1].failures.failed;
	if (values[0].len == 0 || values[1].len == 0)
		return TALLY_OK;
	double *room[STAT_COMPARE_SIDES] = {
		calloc(values[0].len, sizeof(double)), calloc(values[1].len, sizeof(double))};
	enum tally_status status = room[0] && room[1] ? TALLY_OK : error_nomem(err);
	if (!style->is_json)
		text_printf(t, "%*s%*s      %-24s%10s  95%% interval\n", STAT_NUMBER_WIDTH, "median of A",
			STAT_NUMBER_WIDTH, "median of B", "", "B - A");
	for (size_t n = 0; status == TALLY_OK && n < values[0].columns; n++) {
		/* The times come first: which is faster is the question. */
		size_t events = values[0].events->len;
		size_t column = n < STAT_TIMES ? events + n : n - STAT_TIMES;
		if (!stat_values_is_shown(&values[0], column))
			continue;
		struct compared row = {
			.values = &values[0], .sides = sides, .has_failures = has_failures, .column = column};
		row.share = fmin(values[0].shares[column], values[1].shares[column]);
		for (int side = 0; side < STAT_COMPARE_SIDES; side++) {
			row.len[side] = stat_values_sorted(&values[side], column, room[side]);
			row.median[side] = run_median(room[side], row.len[side]);
		}
		if (row.len[0] && row.len[1])
			status = run_compare(room[0], row.len[0], room[1], row.len[1], &row.comparison, err);
		if (status == TALLY_OK && style->is_json)
			stat_compare_row_json(t, &row);
		else if (status == TALLY_OK)
			stat_compare_row_print(t, &row, style);
	}
	free(room[0]);
	free(room[1]);
	return status;
}

static void heading_print(struct text *t, const struct side sides[STAT_COMPARE_SIDES],
	const struct stat_values values[STAT_COMPARE_SIDES])
{
	bool has_failures = sides[0].failures.failed || sides[1].failures.failed;
	text_printf(t, "\n Comparison of two commands, %zu and %zu%s runs in turn:\n\n", values[0].len, values[1].len,
		has_failures ? " good" : "");
	for (int side = 0; side < STAT_COMPARE_SIDES; side++) {
		text_printf(t, "   %c: %s", side_names[side], sides[side].words[2]);
		if (sides[side].failures.failed) {
			text_str(t, "   (");
			stat_failures_tell(t, &sides[side].failures);
			text_char(t, ')');
		}
		text_char(t, '\n');
	}
	text_char(t, '\n');
}

static void failures_json(struct text *t, const struct side sides[STAT_COMPARE_SIDES])
{
	for (int side = 0; side < STAT_COMPARE_SIDES; side++) {
		struct json j = {.out = t, .is_compact = true};
		struct text reason = {0};
		if (sides[side].failures.failed == 0)
			continue;
		stat_failures_tell(&reason, &sides[side].failures);
		json_object(&j, NULL);
		json_string(&j, "kind", STR("failures"));
		json_string(&j, "side", (struct tally_str){&side_names[side], 1});
		json_string(&j, "command", str_from(sides[side].words[2]));
		json_u64(&j, "runs", sides[side].failures.runs);
		json_u64(&j, "failed", sides[side].failures.failed);
		json_string(&j, "reason", (struct tally_str){reason.data, reason.len});
		json_object_end(&j);
		t->failed |= reason.failed;
		text_deinit(&reason);
	}
}

/* A run that fails is no measurement of what the command does. */
static enum tally_status failures_refuse(const struct side sides[STAT_COMPARE_SIDES], struct tally_error *err)
{
	const struct side *side = sides[0].failures.failed ? &sides[0] : &sides[1];
	struct text reason = {0};
	stat_failures_tell(&reason, &side->failures);
	text_char(&reason, '\0');
	enum tally_status status = error_set(err, TALLY_INVALID,
		"no verdict: of %c, %s; a command whose status does not matter is compared as 'COMMAND || true'",
		side_names[side - sides], reason.failed ? "runs failed" : reason.data);
	text_deinit(&reason);
	return status;
}

static void closing_print(struct text *t, const struct stat_values values[STAT_COMPARE_SIDES])
{
	text_str(t,
		"\n B - A is the median of the differences of all pairs of runs, in percent of A's median, with its "
		"confidence interval;\n p is the Mann-Whitney test's. Of 20 rows that do not differ, about one looks "
		"as if it did.\n");
	if (values[0].len < 4 || values[1].len < 4)
		text_str(t, " An interval of 95% needs 4 runs of each at least (-r).\n");
	text_char(t, '\n');
}

/* Why counts are missing: of both alike, or of each. */
static void missing_add(struct text *t, const char *program, const struct side sides[STAT_COMPARE_SIDES])
{
	struct text same[STAT_COMPARE_SIDES] = {{0}, {0}};
	for (int side = 0; side < STAT_COMPARE_SIDES; side++)
		if (sides[side].last.events)
			stat_reasons_add_missing(&same[side], program, &sides[side].last);
	bool is_same =
		same[0].len == same[1].len && (same[0].len == 0 || !memcmp(same[0].data, same[1].data, same[0].len));
	for (int side = 0; side < STAT_COMPARE_SIDES && !is_same; side++) {
		struct text prefix = {0};
		text_printf(&prefix, "%s: %c", program, side_names[side]);
		text_char(&prefix, '\0');
		if (sides[side].last.events && !prefix.failed)
			stat_reasons_add_missing(t, prefix.data, &sides[side].last);
		text_deinit(&prefix);
	}
	if (is_same)
		text_bytes(t, same[0].data, same[0].len);
	text_deinit(&same[0]);
	text_deinit(&same[1]);
}

enum tally_status stat_compare(struct stat_session *session, const char *program, struct text *t,
	const struct stat_style *style, struct text *reasons, struct tally_error *err)
{
	static char shell[] = "/bin/sh", option[] = "-c";
	char *lines[STAT_COMPARE_SIDES] = {
		strdup(session->job->settings.counting.compare), strdup(session->job->command[0])};
	struct stat_values values[STAT_COMPARE_SIDES] = {{0}, {0}};
	struct side sides[STAT_COMPARE_SIDES];
	for (int side = 0; side < STAT_COMPARE_SIDES; side++) {
		sides[side] = (struct side){{shell, option, lines[side], NULL}, *session->job, {0}, {0}};
		sides[side].job.command = sides[side].words;
	}
	enum tally_status status = lines[0] && lines[1] ? TALLY_OK : error_nomem(err);
	bool is_hopeless = false;
	uint64_t turns = session->job->settings.counting.runs * STAT_COMPARE_SIDES;
	for (uint64_t n = 0; status == TALLY_OK && n < turns && session->signal == 0 && !is_hopeless; n++) {
		uint64_t side = (n / STAT_COMPARE_SIDES + n) % STAT_COMPARE_SIDES; /* the first side alternates */
		status = side_run(session, &sides[side], &values[side], err);
		is_hopeless = stat_failures_is_hopeless(&sides[side].failures);
	}
	if (status == TALLY_OK && style->is_json)
		failures_json(t, sides);
	else if (status == TALLY_OK)
		heading_print(t, sides, values);
	if (status == TALLY_OK)
		status = compared_print(t, sides, values, style, err);
	if (status == TALLY_OK && !style->is_json && values[0].len && values[1].len)
		closing_print(t, values);
	if (status == TALLY_OK)
		missing_add(reasons, program, sides);
	if (status == TALLY_OK && (sides[0].failures.failed || sides[1].failures.failed))
		status = failures_refuse(sides, err);
	for (int side = 0; side < STAT_COMPARE_SIDES; side++) {
		stat_session_deinit(&sides[side].last);
		stat_values_deinit(&values[side]);
		free(lines[side]);
	}
	return status;
}

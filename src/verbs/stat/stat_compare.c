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
#include "verbs/stat/stat_gate.h"
#include "verbs/stat/stat_reasons.h"

#define RUNS_DEFAULT	      10
#define STAT_COMPARE_RUNS_MAX 1000 /* Upper limit of runs per side; the statistics inspect all pairs of runs. */
#define STAT_COMPARE_SIDES    2
#define LEAST_P		      0.0001 /* Smallest p value that is printed; smaller ones are printed as "< 0.0001". */

static const char side_names[STAT_COMPARE_SIDES] = {'A', 'B'};

int stat_compare_options(
	const struct cli *cli, const struct command *command, int argc, char **argv, int rest, struct stat_settings *s)
{
	if (rest >= argc)
		return cli_usagef(
			cli, command, "compare", "--compare needs two command lines, each quoted as one argument");
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
	char *words[4]; /* The argument vector of /bin/sh -c LINE. */
	struct stat_job job;
	struct stat_failures failures;
	/* The most recent run, which has the supported events and the reasons why others were not counted. */
	struct stat_session last;
	bool is_cut_off; /* Set if the kernel removed the events before the command ended, in at least one run. */
};

struct stat_compare_gate { /* The state of the gate that --fail-if defines. */
	const struct stat_settings *settings;
	struct stat_gate clauses; /* Empty without --fail-if; the rows may still be printed by --markdown. */
	VEC(struct stat_gate_row) rows; /* One row per displayed column, in display order. */
	VEC(double *) values; /* Sorted counts that the rows point to. */
	enum run_verdict verdict;
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
	side->is_cut_off |= single.is_cut_off;
	return status;
}

struct compared {
	const struct stat_values *values; /* The values of side A, which also names the columns. */
	const struct side *sides;
	bool has_failures; /* Set if runs of a side failed; no verdict is printed then. */
	size_t column;
	size_t len[STAT_COMPARE_SIDES];
	double median[STAT_COMPARE_SIDES];
	double share; /* The smaller of the two sides' running times, in percent of the enabled time. */
	const struct stat_gate_row *judged; /* NULL if no gate is in use. */
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
	if (row->judged)
		stat_gate_json(&j, row->judged);
	json_object_end(&j);
}

/* The times are printed before the events, because the usual question is which command is faster. */
static size_t stat_compare_column(const struct stat_values *values, size_t n)
{
	return n < STAT_TIMES ? values->events->len + n : n - STAT_TIMES;
}

/* Prints one row per displayed column, or nothing if a side has no runs. */
static enum tally_status compared_print(struct text *t, const struct side sides[STAT_COMPARE_SIDES],
	const struct stat_values values[STAT_COMPARE_SIDES], const struct stat_compare_gate *gate,
	const struct stat_style *style, struct tally_error *err)
{
	size_t shown = 0;
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
		size_t column = stat_compare_column(&values[0], n);
		if (!stat_values_is_shown(&values[0], column))
			continue;
		struct compared row = {
			.values = &values[0], .sides = sides, .has_failures = has_failures, .column = column};
		row.judged = shown < gate->rows.len ? &gate->rows.items[shown] : NULL;
		shown++;
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

/* A failed run does not measure what the command normally does, so the comparison is rejected. */
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

/* ---- the gate ---- */

static enum tally_status stat_compare_gate_add(struct stat_compare_gate *gate, const struct stat_session *session,
	const struct stat_values values[STAT_COMPARE_SIDES], size_t column, struct tally_error *err)
{
	bool is_event = column < values[0].events->len;
	struct run_gate_side sides[STAT_COMPARE_SIDES];
	for (int side = 0; side < STAT_COMPARE_SIDES; side++) {
		double *room = calloc(values[side].len + 1, sizeof(*room));
		if (!room || !vec_push(&gate->values, room)) {
			free(room);
			return error_nomem(err);
		}
		sides[side] = run_gate_side_of(room, stat_values_sorted(&values[side], column, room));
	}
	const struct stat_gate_row row = {.name = stat_values_name(&values[0], column),
		.unit = stat_values_unit(&values[0], column),
		.is_gated = is_event ? session->job->settings.events.words.len > 0
				     : column == values[0].events->len + STAT_TIME_ELAPSED,
		.a = sides[0],
		.b = sides[1]};
	return vec_push(&gate->rows, row) ? TALLY_OK : error_nomem(err);
}

/* A count of 0 has no percentages, and an event that was never counted may be unsupported. The comparison fails only
 * if this holds for all rows with limits in percent. */
static enum tally_status stat_compare_gate_check_counts(const struct stat_compare_gate *gate, struct tally_error *err)
{
	const struct stat_gate_row *empty = NULL;
	for (size_t i = 0; i < gate->rows.len; i++) {
		const struct stat_gate_row *row = &gate->rows.items[i];
		if (!row->is_judged || row->clause->limit.part <= 0)
			continue;
		if (row->a.mean > 0 && row->b.mean > 0)
			return TALLY_OK;
		empty = empty ? empty : row;
	}
	return empty ? error_set(err, TALLY_INVALID,
			       "no verdict: %s was never counted in %s; a limit as a number ('%s>+10') judges counts "
			       "of 0",
			       empty->name,
			       empty->a.mean > 0   ? "B"
			       : empty->b.mean > 0 ? "A"
						   : "A and B",
			       empty->name)
		     : TALLY_OK;
}

static enum tally_status stat_compare_gate_judge(struct stat_compare_gate *gate, const struct stat_session *session,
	const struct side sides[STAT_COMPARE_SIDES], const struct stat_values values[STAT_COMPARE_SIDES],
	struct tally_error *err)
{
	enum tally_status status = TALLY_OK;
	if (values[0].len == 0 || values[1].len == 0)
		return gate->clauses.count ? error_set(err, TALLY_INVALID, "no verdict: nothing was measured")
					   : TALLY_OK;
	for (size_t n = 0; status == TALLY_OK && n < values[0].columns; n++)
		if (stat_values_is_shown(&values[0], stat_compare_column(&values[0], n)))
			status = stat_compare_gate_add(gate, session, values, stat_compare_column(&values[0], n), err);
	if (status != TALLY_OK || gate->clauses.count == 0)
		return status;
	for (int side = 0; side < STAT_COMPARE_SIDES; side++)
		if (sides[side].is_cut_off)
			return error_set(err, TALLY_INVALID,
				"no verdict: the kernel ended the counting of %c before it ended, at an exec",
				side_names[side]);
	status = stat_gate_judge(&gate->clauses, gate->rows.items, gate->rows.len, &gate->verdict, err);
	return status == TALLY_OK ? stat_compare_gate_check_counts(gate, err) : status;
}

static void stat_compare_gate_json(
	struct text *t, const struct stat_compare_gate *gate, const struct side sides[STAT_COMPARE_SIDES])
{
	struct json j = {.out = t, .is_compact = true};
	json_object(&j, NULL);
	json_string(&j, "kind", STR("gate"));
	json_string(&j, "a", str_from(sides[0].words[2]));
	json_string(&j, "b", str_from(sides[1].words[2]));
	json_string(&j, "fail-if", str_from(gate->settings->counting.fail_if));
	json_bool(&j, "has-failed", gate->verdict == RUN_EXCEEDS);
	json_string(&j, "verdict", str_from(stat_gate_word(gate->verdict)));
	json_object_end(&j);
}

/* Explains missing counts, once if the reasons are the same on both sides, otherwise per side. */
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

static enum tally_status stat_compare_print(struct text *t, const struct side sides[STAT_COMPARE_SIDES],
	const struct stat_values values[STAT_COMPARE_SIDES], const struct stat_compare_gate *gate,
	const struct stat_style *style, struct tally_error *err)
{
	bool has_gate = gate->clauses.count > 0, has_verdict = false;
	for (size_t i = 0; i < gate->rows.len; i++)
		has_verdict |= gate->rows.items[i].is_judged;
	if (gate->settings->view.is_markdown) {
		stat_gate_markdown(t, gate->rows.items, gate->rows.len, gate->verdict, style);
		return TALLY_OK;
	}
	if (style->is_json)
		failures_json(t, sides);
	else
		heading_print(t, sides, values);
	enum tally_status status = compared_print(t, sides, values, gate, style, err);
	if (status == TALLY_OK && !style->is_json && values[0].len && values[1].len) {
		text_str(t,
			"\n B - A is the median of the differences of all pairs of runs, in percent of A's median, with its "
			"confidence interval;\n p is the Mann-Whitney test's. Of 20 rows that do not differ, about one looks "
			"as if it did.\n");
		if (values[0].len < 4 || values[1].len < 4)
			text_str(t, " An interval of 95% needs 4 runs of each at least (-r).\n");
		text_char(t, '\n');
	}
	if (status == TALLY_OK && has_gate && has_verdict && style->is_json)
		stat_compare_gate_json(t, gate, sides);
	else if (status == TALLY_OK && has_gate && has_verdict)
		stat_gate_print(t, gate->rows.items, gate->rows.len, gate->verdict);
	return status;
}

/* Prints the table even if there is no verdict, and reports a failed run or an undecidable gate after it. */
static enum tally_status stat_compare_conclude(struct stat_session *session,
	const struct side sides[STAT_COMPARE_SIDES], const struct stat_values values[STAT_COMPARE_SIDES],
	struct text *t, const struct stat_style *style, struct tally_error *err)
{
	struct stat_compare_gate gate = {.settings = &session->job->settings};
	struct tally_error no_verdict = {0};
	const char *fail_if = session->job->settings.counting.fail_if;
	bool has_failures = sides[0].failures.failed || sides[1].failures.failed;
	enum tally_status judged = TALLY_OK;
	enum tally_status status = fail_if ? stat_gate_parse(fail_if, &gate.clauses, err) : TALLY_OK;
	if (status == TALLY_OK && !has_failures && session->signal == 0)
		judged = stat_compare_gate_judge(&gate, session, sides, values, &no_verdict);
	for (size_t i = 0; judged != TALLY_OK && i < gate.rows.len; i++)
		gate.rows.items[i].is_judged = false;
	if (status == TALLY_OK)
		status = stat_compare_print(t, sides, values, &gate, style, err);
	if (status == TALLY_OK && has_failures)
		status = failures_refuse(sides, err);
	if (status == TALLY_OK && judged != TALLY_OK) {
		*err = no_verdict;
		status = judged;
	}
	if (status == TALLY_OK)
		session->gate_code = stat_gate_exit_code(gate.verdict);
	for (size_t i = 0; i < gate.values.len; i++)
		free(gate.values.items[i]);
	vec_free(&gate.values);
	vec_free(&gate.rows);
	return status;
}

/* Checks, before any command runs, that each clause of --fail-if refers to a compared event or time. */
enum tally_status stat_compare_check(const struct stat_session *session, struct tally_error *err)
{
	static const char *const times[STAT_TIMES] = {"elapsed", "user", "system"};
	const struct stat_settings *s = &session->job->settings;
	struct stat_gate gate;
	VEC(struct stat_gate_row) rows = {0};
	if (!s->counting.fail_if)
		return TALLY_OK;
	enum tally_status status = stat_gate_parse(s->counting.fail_if, &gate, err);
	for (size_t i = 0; status == TALLY_OK && i < session->events->len + STAT_TIMES; i++) {
		bool is_event = i < session->events->len;
		const struct event_spec *spec = is_event ? &session->events->specs[i] : NULL;
		struct stat_gate_row row = {.name = is_event ? spec->name : times[i - session->events->len],
			.unit = is_event ? stat_values_unit_of(spec) : "msec",
			.is_gated = is_event ? s->events.words.len > 0 : i == session->events->len};
		status = vec_push(&rows, row) ? TALLY_OK : error_nomem(err);
	}
	if (status == TALLY_OK)
		status = stat_gate_check(&gate, rows.items, rows.len, err);
	vec_free(&rows);
	return status;
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
		sides[side] = (struct side){.words = {shell, option, lines[side], NULL}, .job = *session->job};
		sides[side].job.command = sides[side].words;
	}
	enum tally_status status = lines[0] && lines[1] ? TALLY_OK : error_nomem(err);
	bool is_hopeless = false;
	uint64_t turns = session->job->settings.counting.runs * STAT_COMPARE_SIDES;
	for (uint64_t n = 0; status == TALLY_OK && n < turns && session->signal == 0 && !is_hopeless; n++) {
		/* Alternates which side runs first, so that drift of the machine affects both sides equally. */
		uint64_t side = (n / STAT_COMPARE_SIDES + n) % STAT_COMPARE_SIDES;
		status = side_run(session, &sides[side], &values[side], err);
		is_hopeless = stat_failures_is_hopeless(&sides[side].failures);
	}
	if (status == TALLY_OK) {
		missing_add(reasons, program, sides);
		status = stat_compare_conclude(session, sides, values, t, style, err);
	}
	for (int side = 0; side < STAT_COMPARE_SIDES; side++) {
		stat_session_deinit(&sides[side].last);
		stat_values_deinit(&values[side]);
		free(lines[side]);
	}
	return status;
}

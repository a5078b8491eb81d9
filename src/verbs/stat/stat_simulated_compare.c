/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/stat/stat_simulated_compare.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "base/shell_words.h"
#include "cli/cli.h"
#include "kernel/counting/run_statistics.h"
#include "tasks/counts/stat_number.h"
#include "verbs/stat/stat_counts_file.h"
#include "verbs/stat/stat_gate.h"

#define STAT_SIMULATED_COMPARE_SIDES 2
#define RUNS_MOST		     1000
#define FILE_ENDING		     ".json"
#define SPREAD_WIDTH		     12
/* Characters that only a shell interprets. A line without them is split into words and run without a shell, because
 * the shell's own instructions would be counted. shell_words_split handles quotation marks and backslashes. */
#define SHELL_SIGNS "|&;<>()$`*?[]#~{}\n"

static const char simulated_side_names[STAT_SIMULATED_COMPARE_SIDES] = {'A', 'B'};

int stat_simulated_compare_options(
	const struct cli *cli, const struct command *command, int argc, char **argv, int rest, struct stat_settings *s)
{
	if (rest >= argc)
		return cli_usagef(cli, command, "compare",
			"--simulate --compare needs two command lines, each quoted as one argument, or files that end "
			"in " FILE_ENDING);
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
	if (s->view.separator || s->view.has_metrics_only)
		return cli_usagef(
			cli, command, "compare", "--compare prints text or JSON (-j), without -x, --metric-only");
	if (s->counting.pre || s->counting.post || s->counting.does_sync)
		return cli_usagef(cli, command, "compare", "--pre, --post and --sync are not supported with --compare");
	if (s->counting.runs == 0 || s->counting.runs > RUNS_MOST)
		return cli_usagef(cli, command, "repeat", "--compare runs each side 1 to %d times", RUNS_MOST);
	return 0;
}

struct simulated_side {
	const char *line; /* The command line or the file name. */
	bool is_file;
	char **words; /* The argument vector of a command that runs without a shell, otherwise NULL. */
	char *shell[4]; /* The argument vector of /bin/sh -c LINE. */
	struct stat_counts_file file;
	double *values; /* Counts of a command, as an array of events by runs. */
	size_t *lens; /* Number of runs that counted the event, per event. */
	struct stat_failures failures;
	struct diag warnings; /* Warnings that the counts are incomplete. */
	bool counted_nothing; /* Set if a run executed none of the instructions that were to be counted. */
	const char *by; /* Name of the simulator and its model. */
	struct stat_environment environment;
	bool has_environment;
};

struct simulated_comparison {
	struct stat_simulated *sim;
	struct simulated_side sides[STAT_SIMULATED_COMPARE_SIDES];
	struct stat_gate gate;
	VEC(struct stat_gate_row) rows; /* One row per event of each benchmark of side A. */
	VEC(const char *) only_b; /* Benchmarks that only side B has. */
	size_t most_runs; /* Largest number of runs of a side in any row. */
	struct text environment; /* Text that lists the differences between the sides' environments. */
	bool has_differences;
};

static enum tally_status simulated_side_open(
	const struct stat_simulated *sim, struct simulated_side *side, const char *line, struct tally_error *err)
{
	static char shell[] = "/bin/sh", option[] = "-c";
	size_t events = sim->events.list.len, cells;
	*side = (struct simulated_side){.line = line,
		.is_file = str_ends_with(str_from(line), STR(FILE_ENDING)),
		.shell = {shell, option, (char *)line, NULL}};
	if (__builtin_mul_overflow(events, (size_t)sim->settings->counting.runs, &cells))
		return error_nomem(err);
	side->values = calloc(cells + 1, sizeof(*side->values));
	side->lens = calloc(events + 1, sizeof(*side->lens));
	if (!side->values || !side->lens)
		return error_nomem(err);
	if (side->is_file) {
		enum tally_status status = stat_counts_file_read(line, &side->file, err);
		side->by = side->file.by;
		side->environment = side->file.environment;
		side->has_environment = side->file.has_environment;
		return status;
	}
	if (strpbrk(line, SHELL_SIGNS))
		return TALLY_OK;
	if (!shell_words_split(str_from(line), &side->words))
		return side->words ? error_set(err, TALLY_INVALID, "a quotation mark is not closed in '%s'", line)
				   : error_nomem(err);
	/* An assignment (NAME=VALUE) before a command needs a shell. */
	if (!side->words[0] || strchr(side->words[0], '=')) {
		free(side->words);
		side->words = NULL;
	}
	return TALLY_OK;
}

static void simulated_side_close(struct simulated_side *side)
{
	stat_counts_file_deinit(&side->file);
	free(side->words);
	free(side->values);
	free(side->lens);
	diag_deinit(&side->warnings);
}

static enum tally_status simulated_side_run(
	struct stat_simulated *sim, struct simulated_side *side, int *signal, struct tally_error *err)
{
	struct stat_simulated_result result = {0};
	enum tally_status status =
		stat_simulated_count(sim, side->words ? side->words : side->shell, &result, &side->warnings, err);
	*signal = result.signal;
	if (status != TALLY_OK || result.signal)
		return status;
	side->by = sim->by;
	side->environment = sim->environment;
	side->has_environment = true;
	side->counted_nothing |= result.counts.values[SIM_INSTRUCTIONS] == 0;
	stat_failures_add(&side->failures, result.status);
	if (!stat_failures_is_success(result.status))
		return TALLY_OK;
	for (size_t i = 0; i < sim->events.list.len; i++) {
		uint64_t value;
		if (stat_simulated_value(&sim->events, i, &result.counts, &value))
			side->values[i * sim->settings->counting.runs + side->lens[i]++] = (double)value;
	}
	return TALLY_OK;
}

/* Without -e, compares the events that both files contain; commands use the default events. */
static enum tally_status simulated_compare_events(struct stat_simulated *sim,
	const struct simulated_side sides[STAT_SIMULATED_COMPARE_SIDES], struct tally_error *err)
{
	enum tally_status status = TALLY_OK;
	if (!sides[0].is_file || !sides[1].is_file || sim->settings->events.words.len)
		return TALLY_OK;
	stat_simulated_events_deinit(&sim->events);
	sim->events = (struct stat_simulated_events){0};
	for (size_t i = 0; status == TALLY_OK && i < sides[0].file.rows.len; i++) {
		const char *event = sides[0].file.rows.items[i].event;
		bool is_known = false, is_of_both = false;
		for (size_t k = 0; k < sim->events.list.len; k++)
			is_known |= strcmp(sim->events.list.specs[k].name, event) == 0;
		for (size_t k = 0; k < sides[1].file.rows.len; k++)
			is_of_both |= strcmp(sides[1].file.rows.items[k].event, event) == 0;
		if (is_of_both && !is_known)
			status = stat_simulated_events_add(&sim->events, event, err);
	}
	return status;
}

/* ---- rows ---- */

/* Returns the side's counts of an event of a benchmark; len is 0 if it has none. */
static struct run_gate_side simulated_side_counts(
	const struct stat_simulated *sim, const struct simulated_side *side, const char *benchmark, size_t event)
{
	double *values = side->values + event * sim->settings->counting.runs;
	if (!side->is_file) {
		run_values_sort(values, side->lens[event]);
		return run_gate_side_of(values, side->lens[event]);
	}
	const struct stat_counts_row *row = stat_counts_file_find(
		&side->file, benchmark ? benchmark : "", str_from(sim->events.list.specs[event].name));
	if (!row)
		return (struct run_gate_side){0};
	return (struct run_gate_side){.len = row->runs, .mean = row->value, .deviation = row->deviation};
}

static bool simulated_compare_is_gated(const struct stat_simulated *sim, size_t event)
{
	return sim->settings->events.words.len > 0 || sim->events.sums.items[event] == 1u << SIM_INSTRUCTIONS;
}

static bool simulated_side_has(const struct simulated_side *side, const char *benchmark)
{
	for (size_t i = 0; i < side->file.rows.len; i++)
		if (strcmp(side->file.rows.items[i].benchmark, benchmark ? benchmark : "") == 0)
			return true;
	return !side->is_file && !benchmark;
}

static enum tally_status simulated_compare_add_rows(
	struct simulated_comparison *c, const char *benchmark, struct tally_error *err)
{
	const struct stat_simulated *sim = c->sim;
	for (size_t i = 0; i < sim->events.list.len; i++) {
		struct stat_gate_row row = {.benchmark = benchmark,
			.name = sim->events.list.specs[i].name,
			.unit = "",
			.is_gated = simulated_compare_is_gated(sim, i),
			.a = simulated_side_counts(sim, &c->sides[0], benchmark, i),
			.b = simulated_side_counts(sim, &c->sides[1], benchmark, i)};
		c->most_runs = MAX(c->most_runs, (size_t)MAX(row.a.len, row.b.len));
		if (!vec_push(&c->rows, row))
			return error_nomem(err);
	}
	return TALLY_OK;
}

/* Returns the benchmark's name if this row is the first of that name, otherwise NULL. */
static const char *simulated_side_new_benchmark(const struct simulated_side *side, size_t row)
{
	for (size_t i = 0; i < row; i++)
		if (strcmp(side->file.rows.items[i].benchmark, side->file.rows.items[row].benchmark) == 0)
			return NULL;
	return side->file.rows.items[row].benchmark;
}

/* A benchmark that B lacks was renamed or did not run, so its absence must not pass as an improvement. */
static enum tally_status simulated_compare_make_rows(struct simulated_comparison *c, struct tally_error *err)
{
	struct simulated_side *a = &c->sides[0], *b = &c->sides[1];
	enum tally_status status = TALLY_OK;
	if (!a->is_file)
		status = simulated_compare_add_rows(c, NULL, err);
	for (size_t i = 0; status == TALLY_OK && i < a->file.rows.len; i++) {
		const char *name = simulated_side_new_benchmark(a, i);
		const char *benchmark = name && name[0] ? name : NULL;
		if (!name)
			continue;
		if (!simulated_side_has(b, benchmark))
			return error_set(err, TALLY_INVALID,
				"no verdict: B ('%s') has no benchmark %s%s%s, which A has: it was renamed, or did not "
				"run",
				b->line, benchmark ? "'" : "without a name", benchmark ? benchmark : "",
				benchmark ? "'" : "");
		status = simulated_compare_add_rows(c, benchmark, err);
	}
	for (size_t i = 0; status == TALLY_OK && i < b->file.rows.len; i++) {
		const char *name = simulated_side_new_benchmark(b, i);
		const char *benchmark = name && name[0] ? name : NULL;
		if (name && !simulated_side_has(a, benchmark) && !vec_push(&c->only_b, name))
			status = error_nomem(err);
	}
	return status;
}

/* ---- the verdict ---- */

/* Returns the change in percent of A, or infinity if only A is 0. */
static double simulated_compare_change(const struct stat_gate_row *row)
{
	double a = row->a.mean, b = row->b.mean;
	return a == b ? 0 : a == 0 ? INFINITY : 100 * (b - a) / a;
}

/* Rejects a side with failed runs, which did not do the compared work, or with incomplete counts, which would look like
 * an improvement. */
static enum tally_status simulated_side_check(const struct simulated_side *side, char name, struct tally_error *err)
{
	if (side->failures.failed) {
		struct text reason = {0};
		stat_failures_tell(&reason, &side->failures);
		enum tally_status status = error_set(err, TALLY_INVALID,
			"no verdict: of %c, %.*s; a command whose status does not matter is compared as 'COMMAND || "
			"true'",
			name, (int)reason.len, reason.data ? reason.data : "");
		text_deinit(&reason);
		return status;
	}
	if (side->file.fault[0])
		return error_set(err, TALLY_INVALID,
			"no verdict: the counts of %c ('%s') are not those of a whole run: %s", name, side->line,
			side->file.fault);
	if (side->warnings.len > 0)
		return error_set(err, TALLY_INVALID,
			"no verdict: the counts of %c ('%s') are not those of a whole run: %s", name, side->line,
			side->warnings.entries[0].text);
	if (side->counted_nothing)
		return error_set(err, TALLY_INVALID, "no verdict: of %c ('%s') nothing was counted", name, side->line);
	return TALLY_OK;
}

/* No program executes 0 instructions; if all counts are 0, none of the code that was to be counted ran. */
static enum tally_status simulated_compare_check_benchmark(
	const struct simulated_comparison *c, const struct stat_gate_row *rows, size_t count, struct tally_error *err)
{
	for (int side = 0; side < STAT_SIMULATED_COMPARE_SIDES; side++) {
		bool has_count = false, lacks_instructions = false;
		for (size_t i = 0; i < count; i++) {
			const struct run_gate_side *counts = side ? &rows[i].b : &rows[i].a;
			bool is_instructions = c->sim->events.sums.items[i] == 1u << SIM_INSTRUCTIONS;
			has_count |= counts->len && counts->mean > 0;
			lacks_instructions |= is_instructions && counts->len && counts->mean <= 0;
		}
		bool was_measured = count > 0 && (side ? rows[0].b.len : rows[0].a.len);
		if (lacks_instructions || (was_measured && !has_count))
			return error_set(err, TALLY_INVALID, "no verdict: of %c ('%s')%s%s nothing was counted",
				simulated_side_names[side], c->sides[side].line, rows[0].benchmark ? ", " : "",
				rows[0].benchmark ? rows[0].benchmark : "");
	}
	return TALLY_OK;
}

static bool simulated_compare_is_judged(const struct simulated_comparison *c, size_t event)
{
	for (size_t i = 0; i < c->gate.count; i++)
		if (stat_gate_is_of(&c->gate.clauses[i], c->sim->events.list.specs[event].name,
			    simulated_compare_is_gated(c->sim, event)))
			return true;
	return false;
}

/* Rejects judged events that a side lacks, and counts of different models. */
static enum tally_status simulated_compare_check(const struct simulated_comparison *c, struct tally_error *err)
{
	const struct stat_simulated *sim = c->sim;
	size_t events = sim->events.list.len, gated = 0;
	for (size_t row = 0; row < c->rows.len; row++) {
		const struct stat_gate_row *r = &c->rows.items[row];
		size_t event = row % events;
		if (!simulated_compare_is_judged(c, event))
			continue;
		gated++;
		for (int side = 0; side < STAT_SIMULATED_COMPARE_SIDES; side++)
			if ((side ? r->b.len : r->a.len) == 0)
				return error_set(err, TALLY_INVALID, "no verdict: %c ('%s') has no count of %s%s%s",
					simulated_side_names[side], c->sides[side].line, r->name,
					r->benchmark ? " of " : "", r->benchmark ? r->benchmark : "");
		bool is_of_model = !(sim->events.sums.items[event] & (1u << SIM_INSTRUCTIONS | 1u << SIM_BRANCHES));
		if (is_of_model && strcmp(c->sides[0].by, c->sides[1].by) != 0)
			return error_set(err, TALLY_INVALID,
				"no verdict on %s: A was simulated by '%s', and B by '%s'; --cache-model sets the "
				"model",
				r->name, c->sides[0].by, c->sides[1].by);
	}
	for (size_t row = 0; row < c->rows.len; row += events) {
		enum tally_status status = simulated_compare_check_benchmark(c, &c->rows.items[row], events, err);
		if (status != TALLY_OK)
			return status;
	}
	return gated ? TALLY_OK : error_set(err, TALLY_INVALID, "no verdict: there is no count of instructions");
}

static enum tally_status simulated_compare_judge(
	struct simulated_comparison *c, enum run_verdict *verdict, struct tally_error *err)
{
	enum tally_status status = TALLY_OK;
	for (int side = 0; status == TALLY_OK && side < STAT_SIMULATED_COMPARE_SIDES; side++)
		status = simulated_side_check(&c->sides[side], simulated_side_names[side], err);
	if (status == TALLY_OK)
		status = simulated_compare_make_rows(c, err);
	if (status == TALLY_OK)
		status = simulated_compare_check(c, err);
	if (status == TALLY_OK)
		status = stat_gate_judge(&c->gate, c->rows.items, c->rows.len, verdict, err);
	if (c->sides[0].has_environment && c->sides[1].has_environment)
		c->has_differences = stat_environment_differences(
			&c->environment, &c->sides[0].environment, &c->sides[1].environment);
	return status;
}

/* ---- the output ---- */

static void simulated_compare_percent(struct text *t, const struct stat_style *style, double percent)
{
	size_t start = t->len;
	text_str(t, percent > 0 ? "+" : "");
	if (isinf(percent))
		text_str(t, "inf");
	else
		stat_number(t, style->decimal, percent, 3, 0);
	text_char(t, '%');
	text_align_from(t, start, 12);
}

static void simulated_compare_number(struct text *t, const struct stat_style *style, const struct run_gate_side *side)
{
	size_t start = t->len;
	if (side->len == 0)
		text_str(t, "<not counted>");
	else if (side->mean == floor(side->mean) && side->mean < 0x1p53)
		text_u64_grouped(t, (uint64_t)side->mean, style->thousands);
	else
		stat_number(t, style->decimal, side->mean, 1, 0);
	text_align_from(t, start, 20);
}

/* Prints the standard deviation of the runs in percent of their mean. */
static void simulated_compare_spread(struct text *t, const struct stat_style *style, const struct run_gate_side *side)
{
	size_t start = t->len;
	if (side->len > 1) {
		text_str(t, " +- ");
		stat_number(t, style->decimal, side->mean > 0 ? 100 * side->deviation / side->mean : 0, 2, 0);
		text_char(t, '%');
	}
	text_align_from(t, start, SPREAD_WIDTH);
}

static void simulated_compare_row(struct text *t, const struct simulated_comparison *c, const struct stat_gate_row *row,
	const struct stat_style *style)
{
	const struct run_gate_side *sides[STAT_SIMULATED_COMPARE_SIDES] = {&row->a, &row->b};
	for (int side = 0; side < STAT_SIMULATED_COMPARE_SIDES; side++) {
		simulated_compare_number(t, style, sides[side]);
		if (c->most_runs > 1)
			simulated_compare_spread(t, style, sides[side]);
	}
	if (row->a.len && row->b.len)
		simulated_compare_percent(t, style, simulated_compare_change(row));
	else
		text_repeat(t, ' ', 12);
	text_printf(t, "  %s%s\n", row->name,
		!row->is_judged || row->verdict == RUN_DOES_NOT_EXCEED ? ""
		: row->verdict == RUN_OPEN			       ? "  undecided"
								       : "  exceeds the threshold");
}

static void simulated_compare_rows(const struct simulated_comparison *c, struct text *t, const struct stat_style *style)
{
	const struct simulated_side *sides = c->sides;
	text_printf(t, "\n Comparison of two commands by simulated events (%s):\n\n", sides[1].by);
	for (int side = 0; side < STAT_SIMULATED_COMPARE_SIDES; side++)
		text_printf(t, "   %c: %s\n", simulated_side_names[side], sides[side].line);
	if (strcmp(sides[0].by, sides[1].by) != 0)
		text_printf(t, "\n A was simulated by another model: %s\n", sides[0].by);
	if (c->most_runs > 1)
		text_printf(t, "\n%20s%*s%20s%*s%12s\n", "A", SPREAD_WIDTH, "", "B", SPREAD_WIDTH, "", "B - A");
	else
		text_printf(t, "\n%20s%20s%12s\n", "A", "B", "B - A");
	for (size_t i = 0; i < c->rows.len; i++) {
		const struct stat_gate_row *row = &c->rows.items[i];
		if (row->benchmark && i % c->sim->events.list.len == 0) {
			text_str(t, i ? "\n " : " ");
			text_visible(t, str_from(row->benchmark));
			text_str(t, ":\n");
		}
		simulated_compare_row(t, c, row, style);
	}
	text_char(t, '\n');
	for (size_t i = 0; i < c->only_b.len; i++) {
		text_str(t, " Only B has the benchmark '");
		text_visible(t, str_from(c->only_b.items[i]));
		text_str(t, "', which is not judged.\n");
	}
}

/* Prints the verdict of --threshold as one sentence; stat_gate_print prints that of clauses. */
static void simulated_compare_verdict(const struct simulated_comparison *c, struct text *t, enum run_verdict verdict)
{
	size_t named = 0;
	if (c->sim->settings->counting.fail_if || verdict == RUN_OPEN) {
		stat_gate_print(t, c->rows.items, c->rows.len, verdict);
		return;
	}
	text_str(t, verdict == RUN_EXCEEDS ? " B exceeds A by more than " : " B does not exceed A by more than ");
	text_printf(t, "%g%% in ", c->sim->settings->simulation.threshold);
	for (size_t i = 0; i < c->rows.len; i++) {
		const struct stat_gate_row *row = &c->rows.items[i];
		if (!row->is_judged || (verdict == RUN_EXCEEDS && row->verdict != RUN_EXCEEDS))
			continue;
		text_printf(t, "%s%s", named++ ? ", " : "", row->name);
		if (row->benchmark) {
			text_str(t, " of ");
			text_visible(t, str_from(row->benchmark));
		}
	}
	text_str(t, ".\n\n");
}

static void simulated_compare_row_json(
	const struct simulated_comparison *c, const struct stat_gate_row *row, struct text *t)
{
	const struct stat_simulated *sim = c->sim;
	struct json j = {.out = t, .is_compact = true};
	bool has_both = row->a.len && row->b.len;
	double change = has_both ? simulated_compare_change(row) : 0;
	json_object(&j, NULL);
	json_string(&j, "kind", STR("simulated-comparison"));
	if (row->benchmark)
		json_string(&j, "benchmark", str_from(row->benchmark));
	json_string(&j, "event", str_from(row->name));
	if (row->a.len)
		json_fixed(&j, "count-a", row->a.mean, 6);
	if (row->b.len)
		json_fixed(&j, "count-b", row->b.mean, 6);
	if (has_both && !isinf(change))
		json_fixed(&j, "change-percent", change, 6);
	if (c->most_runs > 1) {
		json_u64(&j, "runs-a", row->a.len);
		json_u64(&j, "runs-b", row->b.len);
		json_fixed(&j, "deviation-a", row->a.deviation, 6);
		json_fixed(&j, "deviation-b", row->b.deviation, 6);
	}
	json_bool(&j, "is-gated", row->is_judged);
	json_bool(&j, "exceeds", row->is_judged && row->verdict == RUN_EXCEEDS);
	stat_gate_json(&j, row);
	stat_rows_origin(&j, &(struct stat_origin){sim->origin.kind, c->sides[1].by, sim->origin.not_seen, NULL});
	json_object_end(&j);
}

static void simulated_compare_json(const struct simulated_comparison *c, struct text *t, enum run_verdict verdict)
{
	const struct stat_settings *s = c->sim->settings;
	for (size_t i = 0; i < c->rows.len; i++)
		simulated_compare_row_json(c, &c->rows.items[i], t);
	struct json j = {.out = t, .is_compact = true};
	json_object(&j, NULL);
	json_string(&j, "kind", STR("gate"));
	json_string(&j, "a", str_from(c->sides[0].line));
	json_string(&j, "b", str_from(c->sides[1].line));
	if (s->counting.fail_if)
		json_string(&j, "fail-if", str_from(s->counting.fail_if));
	else
		json_fixed(&j, "threshold-percent", s->simulation.threshold, 6);
	json_bool(&j, "has-failed", verdict == RUN_EXCEEDS);
	json_string(&j, "verdict", str_from(stat_gate_word(verdict)));
	if (c->has_differences)
		json_string(&j, "environment-differences", text_view(&c->environment));
	json_object_end(&j);
}

static void simulated_compare_print(
	const struct simulated_comparison *c, struct text *t, const struct stat_style *style, enum run_verdict verdict)
{
	if (style->is_json) {
		simulated_compare_json(c, t, verdict);
	} else if (c->sim->settings->view.is_markdown) {
		stat_gate_markdown(t, c->rows.items, c->rows.len, verdict, style);
	} else {
		simulated_compare_rows(c, t, style);
		simulated_compare_verdict(c, t, verdict);
	}
}

static enum tally_status simulated_compare_measure(struct simulated_comparison *c, int *signal, struct tally_error *err)
{
	struct stat_simulated *sim = c->sim;
	enum tally_status status = TALLY_OK;
	for (uint64_t run = 0; status == TALLY_OK && run < sim->settings->counting.runs; run++) {
		for (int side = 0; status == TALLY_OK && side < STAT_SIMULATED_COMPARE_SIDES; side++) {
			struct simulated_side *s = &c->sides[side];
			if (!s->is_file && *signal == 0 && s->failures.failed == 0)
				status = simulated_side_run(sim, s, signal, err);
		}
	}
	return status;
}

/* Parses the gate and opens both sides before any command runs. */
static enum tally_status simulated_compare_open(
	struct simulated_comparison *c, const struct stat_job *job, struct tally_error *err)
{
	const char *lines[STAT_SIMULATED_COMPARE_SIDES] = {job->settings.counting.compare, job->command[0]};
	const struct stat_settings *s = &job->settings;
	enum tally_status status = TALLY_OK;
	c->gate = stat_gate_of_threshold(s->simulation.threshold);
	if (s->counting.fail_if)
		status = stat_gate_parse(s->counting.fail_if, &c->gate, err);
	for (int side = 0; status == TALLY_OK && side < STAT_SIMULATED_COMPARE_SIDES; side++)
		status = simulated_side_open(c->sim, &c->sides[side], lines[side], err);
	return status == TALLY_OK ? simulated_compare_events(c->sim, c->sides, err) : status;
}

/* Checks, before any command runs, that each clause refers to a compared event. */
static enum tally_status simulated_compare_check_clauses(
	const struct simulated_comparison *c, struct stat_simulated_gate *gate, struct tally_error *err)
{
	const struct stat_simulated *sim = c->sim;
	VEC(struct stat_gate_row) rows = {0};
	enum tally_status status = TALLY_OK;
	for (size_t i = 0; status == TALLY_OK && i < sim->events.list.len; i++) {
		struct stat_gate_row row = {.name = sim->events.list.specs[i].name,
			.unit = "",
			.is_gated = simulated_compare_is_gated(sim, i)};
		status = vec_push(&rows, row) ? TALLY_OK : error_nomem(err);
	}
	if (status == TALLY_OK && sim->settings->counting.fail_if) {
		status = stat_gate_check(&c->gate, rows.items, rows.len, err);
		gate->is_misused = status == TALLY_INVALID;
	}
	vec_free(&rows);
	return status;
}

enum tally_status stat_simulated_compare(struct stat_simulated *sim, const struct stat_job *job, struct text *t,
	const struct stat_style *style, struct stat_simulated_gate *gate, struct tally_error *err)
{
	struct simulated_comparison c = {.sim = sim};
	*gate = (struct stat_simulated_gate){0};
	enum tally_status status = simulated_compare_open(&c, job, err);
	if (status == TALLY_OK)
		status = simulated_compare_check_clauses(&c, gate, err);
	if (status == TALLY_OK)
		status = simulated_compare_measure(&c, &gate->signal, err);
	if (status == TALLY_OK && gate->signal == 0)
		status = simulated_compare_judge(&c, &gate->verdict, err);
	if (c.has_differences)
		diag_add(&sim->notes, DIAG_WARNING,
			"A and B were counted in different environments, which counts depend on: %.*s",
			(int)c.environment.len, c.environment.data ? c.environment.data : "");
	if (status == TALLY_OK && gate->signal == 0)
		simulated_compare_print(&c, t, style, gate->verdict);
	for (int side = 0; side < STAT_SIMULATED_COMPARE_SIDES; side++)
		simulated_side_close(&c.sides[side]);
	vec_free(&c.rows);
	vec_free(&c.only_b);
	text_deinit(&c.environment);
	return status;
}

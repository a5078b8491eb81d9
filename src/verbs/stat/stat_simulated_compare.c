/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/stat/stat_simulated_compare.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "base/shell_words.h"
#include "cli/cli.h"
#include "tasks/counts/stat_number.h"
#include "verbs/stat/stat_counts_file.h"

#define STAT_SIMULATED_COMPARE_SIDES 2
#define RUNS_MOST		     1000
#define FILE_ENDING		     ".json"
/* What a shell alone understands: a line that has none of it is split into words, and run without a shell, whose own
 * instructions would count. Quotation marks and backslashes are for shell_words. */
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
	const char *line; /* of the command line, or the file's name */
	bool is_file;
	char **words; /* of a command that runs without a shell */
	char *shell[4]; /* sh -c LINE */
	struct stat_counts_file file;
	struct stat_mean *means; /* by event; n 0: not counted */
	struct stat_failures failures;
	struct diag warnings; /* what its counts lack */
	const char *by; /* what simulated */
};

static enum tally_status simulated_side_open(
	struct simulated_side *side, const char *line, size_t events, struct tally_error *err)
{
	static char shell[] = "/bin/sh", option[] = "-c";
	*side = (struct simulated_side){.line = line,
		.is_file = str_ends_with(str_from(line), STR(FILE_ENDING)),
		.shell = {shell, option, (char *)line, NULL},
		.means = calloc(events + 1, sizeof(*side->means))};
	if (!side->means)
		return error_nomem(err);
	if (side->is_file) {
		enum tally_status status = stat_counts_file_read(line, &side->file, err);
		side->by = side->file.by;
		return status;
	}
	if (strpbrk(line, SHELL_SIGNS))
		return TALLY_OK;
	if (!shell_words_split(str_from(line), &side->words))
		return side->words ? error_set(err, TALLY_INVALID, "a quotation mark is not closed in '%s'", line)
				   : error_nomem(err);
	/* NAME=VALUE before a command is the shell's. */
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
	free(side->means);
	diag_deinit(&side->warnings);
}

static enum tally_status simulated_side_run(
	struct stat_simulated *sim, struct simulated_side *side, int *signal, struct tally_error *err)
{
	struct stat_simulated_result result = {0};
	enum tally_status status = stat_simulated_count(
		sim, side->words ? side->words : side->shell, &result, &side->warnings, err);
	*signal = result.signal;
	if (status != TALLY_OK || result.signal)
		return status;
	side->by = sim->by;
	stat_failures_add(&side->failures, result.status);
	if (!stat_failures_is_success(result.status))
		return TALLY_OK;
	for (size_t i = 0; i < sim->events.list.len; i++) {
		uint64_t value;
		if (stat_simulated_value(&sim->events, i, &result.counts, &value))
			stat_mean_add(&side->means[i], (double)value);
	}
	return TALLY_OK;
}

/* Without -e: all that both files have, or the events that are counted by default. */
static enum tally_status simulated_compare_events(
	struct stat_simulated *sim, struct simulated_side sides[STAT_SIMULATED_COMPARE_SIDES], struct tally_error *err)
{
	enum tally_status status = TALLY_OK;
	if (!sides[0].is_file || !sides[1].is_file || sim->settings->events.words.len)
		return TALLY_OK;
	stat_simulated_events_deinit(&sim->events);
	sim->events = (struct stat_simulated_events){0};
	for (size_t i = 0; status == TALLY_OK && i < sides[0].file.rows.len; i++) {
		const char *event = sides[0].file.rows.items[i].event;
		double ignored;
		if (stat_counts_file_find(&sides[1].file, str_from(event), &ignored))
			status = stat_simulated_events_add(&sim->events, event, err);
	}
	for (int side = 0; status == TALLY_OK && side < STAT_SIMULATED_COMPARE_SIDES; side++) {
		free(sides[side].means);
		sides[side].means = calloc(sim->events.list.len + 1, sizeof(*sides[side].means));
		if (!sides[side].means)
			status = error_nomem(err);
	}
	return status;
}

static void simulated_side_take_file(const struct stat_simulated *sim, struct simulated_side *side)
{
	for (size_t i = 0; side->is_file && i < sim->events.list.len; i++) {
		double value;
		if (stat_counts_file_find(&side->file, str_from(sim->events.list.specs[i].name), &value))
			stat_mean_add(&side->means[i], value);
	}
}

/* ---- the verdict ---- */

static bool simulated_compare_is_gated(const struct stat_simulated *sim, size_t event)
{
	return sim->settings->events.words.len > 0 || sim->events.sums.items[event] == 1u << SIM_INSTRUCTIONS;
}

/* In percent of A; infinite if A is 0. */
static double simulated_compare_change(const struct simulated_side sides[STAT_SIMULATED_COMPARE_SIDES], size_t event)
{
	double a = sides[0].means[event].mean, b = sides[1].means[event].mean;
	return a == b ? 0 : a == 0 ? INFINITY : 100 * (b - a) / a;
}

static bool simulated_compare_exceeds(
	const struct stat_simulated *sim, const struct simulated_side sides[STAT_SIMULATED_COMPARE_SIDES], size_t event)
{
	return simulated_compare_is_gated(sim, event) &&
	       simulated_compare_change(sides, event) > sim->settings->simulation.threshold;
}

/* A run that failed did not do what is to be compared; an event that a side lacks has no change. */
static enum tally_status simulated_compare_check(const struct stat_simulated *sim,
	const struct simulated_side sides[STAT_SIMULATED_COMPARE_SIDES], struct tally_error *err)
{
	size_t gated = 0;
	for (int side = 0; side < STAT_SIMULATED_COMPARE_SIDES; side++) {
		struct text reason = {0};
		if (sides[side].failures.failed == 0)
			continue;
		stat_failures_tell(&reason, &sides[side].failures);
		enum tally_status status = error_set(err, TALLY_INVALID,
			"no verdict: of %c, %.*s; a command whose status does not matter is compared as 'COMMAND || "
			"true'",
			simulated_side_names[side], (int)reason.len, reason.data ? reason.data : "");
		text_deinit(&reason);
		return status;
	}
	for (size_t i = 0; i < sim->events.list.len; i++) {
		if (!simulated_compare_is_gated(sim, i))
			continue;
		gated++;
		for (int side = 0; side < STAT_SIMULATED_COMPARE_SIDES; side++)
			if (sides[side].means[i].n == 0)
				return error_set(err, TALLY_INVALID, "no verdict: %c ('%s') has no count of %s",
					simulated_side_names[side], sides[side].line, sim->events.list.specs[i].name);
		bool is_of_model = !(sim->events.sums.items[i] & (1u << SIM_INSTRUCTIONS | 1u << SIM_BRANCHES));
		if (is_of_model && strcmp(sides[0].by, sides[1].by) != 0)
			return error_set(err, TALLY_INVALID,
				"no verdict on %s: A was simulated by '%s', and B by '%s'; --cache-model sets the "
				"model",
				sim->events.list.specs[i].name, sides[0].by, sides[1].by);
	}
	return gated ? TALLY_OK : error_set(err, TALLY_INVALID, "no verdict: there is no count of instructions");
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

static void simulated_compare_number(struct text *t, const struct stat_style *style, const struct stat_mean *mean)
{
	size_t start = t->len;
	if (mean->n == 0)
		text_str(t, "<not counted>");
	else if (mean->mean == floor(mean->mean) && mean->mean < 0x1p53)
		text_u64_grouped(t, (uint64_t)mean->mean, style->thousands);
	else
		stat_number(t, style->decimal, mean->mean, 1, 0);
	text_align_from(t, start, 20);
}

static void simulated_compare_rows(const struct stat_simulated *sim,
	const struct simulated_side sides[STAT_SIMULATED_COMPARE_SIDES], struct text *t, const struct stat_style *style)
{
	text_printf(t, "\n Comparison of two commands by simulated events (%s):\n\n", sides[1].by);
	for (int side = 0; side < STAT_SIMULATED_COMPARE_SIDES; side++)
		text_printf(t, "   %c: %s\n", simulated_side_names[side], sides[side].line);
	if (strcmp(sides[0].by, sides[1].by) != 0)
		text_printf(t, "\n A was simulated by another model: %s\n", sides[0].by);
	text_printf(t, "\n%20s%20s%12s\n", "A", "B", "B - A");
	for (size_t i = 0; i < sim->events.list.len; i++) {
		bool has_both = sides[0].means[i].n && sides[1].means[i].n;
		for (int side = 0; side < STAT_SIMULATED_COMPARE_SIDES; side++)
			simulated_compare_number(t, style, &sides[side].means[i]);
		if (has_both)
			simulated_compare_percent(t, style, simulated_compare_change(sides, i));
		else
			text_repeat(t, ' ', 12);
		text_printf(t, "  %s%s\n", sim->events.list.specs[i].name,
			has_both && simulated_compare_exceeds(sim, sides, i) ? "  exceeds the threshold" : "");
	}
	text_char(t, '\n');
}

static void simulated_compare_verdict(const struct stat_simulated *sim,
	const struct simulated_side sides[STAT_SIMULATED_COMPARE_SIDES], struct text *t, bool has_failed)
{
	size_t named = 0;
	text_str(t, has_failed ? " B exceeds A by more than " : " B does not exceed A by more than ");
	text_printf(t, "%g%% in ", sim->settings->simulation.threshold);
	for (size_t i = 0; i < sim->events.list.len; i++)
		if (simulated_compare_is_gated(sim, i) && (!has_failed || simulated_compare_exceeds(sim, sides, i)))
			text_printf(t, "%s%s", named++ ? ", " : "", sim->events.list.specs[i].name);
	text_str(t, ".\n\n");
}

static void simulated_compare_json(const struct stat_simulated *sim,
	const struct simulated_side sides[STAT_SIMULATED_COMPARE_SIDES], struct text *t, bool has_failed)
{
	for (size_t i = 0; i < sim->events.list.len; i++) {
		struct json j = {.out = t, .is_compact = true};
		bool has_both = sides[0].means[i].n && sides[1].means[i].n;
		double change = has_both ? simulated_compare_change(sides, i) : 0;
		json_object(&j, NULL);
		json_string(&j, "kind", STR("simulated-comparison"));
		json_string(&j, "event", str_from(sim->events.list.specs[i].name));
		if (sides[0].means[i].n)
			json_fixed(&j, "count-a", sides[0].means[i].mean, 6);
		if (sides[1].means[i].n)
			json_fixed(&j, "count-b", sides[1].means[i].mean, 6);
		if (has_both && !isinf(change))
			json_fixed(&j, "change-percent", change, 6);
		json_bool(&j, "is-gated", simulated_compare_is_gated(sim, i));
		json_bool(&j, "exceeds", has_both && simulated_compare_exceeds(sim, sides, i));
		stat_rows_origin(&j, &(struct stat_origin){sim->origin.kind, sides[1].by, sim->origin.not_seen, NULL});
		json_object_end(&j);
	}
	struct json j = {.out = t, .is_compact = true};
	json_object(&j, NULL);
	json_string(&j, "kind", STR("gate"));
	json_string(&j, "a", str_from(sides[0].line));
	json_string(&j, "b", str_from(sides[1].line));
	json_fixed(&j, "threshold-percent", sim->settings->simulation.threshold, 6);
	json_bool(&j, "has-failed", has_failed);
	json_object_end(&j);
}

static enum tally_status simulated_compare_measure(struct stat_simulated *sim,
	struct simulated_side sides[STAT_SIMULATED_COMPARE_SIDES], int *signal, struct tally_error *err)
{
	enum tally_status status = TALLY_OK;
	for (uint64_t run = 0; status == TALLY_OK && run < sim->settings->counting.runs; run++)
		for (int side = 0; status == TALLY_OK && side < STAT_SIMULATED_COMPARE_SIDES; side++)
			if (!sides[side].is_file && *signal == 0 && sides[side].failures.failed == 0)
				status = simulated_side_run(sim, &sides[side], signal, err);
	for (int side = 0; status == TALLY_OK && side < STAT_SIMULATED_COMPARE_SIDES; side++)
		simulated_side_take_file(sim, &sides[side]);
	return status;
}

enum tally_status stat_simulated_compare(struct stat_simulated *sim, const struct stat_job *job, struct text *t,
	const struct stat_style *style, struct stat_simulated_gate *gate, struct tally_error *err)
{
	const char *lines[STAT_SIMULATED_COMPARE_SIDES] = {job->settings.counting.compare, job->command[0]};
	struct simulated_side sides[STAT_SIMULATED_COMPARE_SIDES] = {0};
	enum tally_status status = TALLY_OK;
	*gate = (struct stat_simulated_gate){0};
	for (int side = 0; status == TALLY_OK && side < STAT_SIMULATED_COMPARE_SIDES; side++)
		status = simulated_side_open(&sides[side], lines[side], sim->events.list.len, err);
	if (status == TALLY_OK)
		status = simulated_compare_events(sim, sides, err);
	if (status == TALLY_OK)
		status = simulated_compare_measure(sim, sides, &gate->signal, err);
	if (status == TALLY_OK && gate->signal == 0)
		status = simulated_compare_check(sim, sides, err);
	if (status == TALLY_OK && gate->signal == 0) {
		for (size_t i = 0; i < sim->events.list.len; i++)
			gate->has_failed |= simulated_compare_exceeds(sim, sides, i);
		if (style->is_json) {
			simulated_compare_json(sim, sides, t, gate->has_failed);
		} else {
			simulated_compare_rows(sim, sides, t, style);
			simulated_compare_verdict(sim, sides, t, gate->has_failed);
		}
	}
	for (int side = 0; side < STAT_SIMULATED_COMPARE_SIDES; side++)
		simulated_side_close(&sides[side]);
	return status;
}

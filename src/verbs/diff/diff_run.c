/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/diff/diff_run.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/limits.h"
#include "cli/cli.h"
#include "perfdata/origin.h"
#include "tasks/comparing/diff_few.h"
#include "tasks/comparing/match_notes.h"
#include "tasks/session/recording_input.h"
#include "tasks/session/report_dump.h"
#include "verbs/diff/diff_cycles.h"
#include "verbs/diff/diff_output.h"
#include "view/data/changes_json.h"
#include "view/text/changes_text.h"
#include "view/text/streams_text.h"

#define DIFF_RUN_PERCENT 100.0
#define FILES_UNNAMED	 2 /* Up to this number of files, no legend of their numbers is printed. */

struct diff_row_count {
	size_t tables, rows;
};

struct diff_run_job {
	const struct diff_request *request;
	const struct diff_recordings *recordings;
	const struct cli *cli;
	struct text *out;
	struct json json;
	struct diff_outcome outcome;
	size_t judged; /* Number of rows that the gate has judged. */
	struct flat_table *made; /* Tables of all recordings, of which only those in use are initialized. */
	/* Tables of the current event by recording; NULL for a recording without that event. */
	const struct flat_table **tables;
	/* Per recording; set if its counterpart of the current event has been compared with an earlier event of the
	 * baseline. */
	bool *is_seen;
	struct diff_path_source *sources;
	struct name_match match;
	size_t matched; /* Number of functions that the baseline and another recording have in common. */
	struct diff_row_count *rows; /* Counts per recording, for all events. */
};

static void print_origins(const struct diff_run_job *job)
{
	bool is_any = false;
	for (size_t i = 0; i < job->recordings->count; i++) {
		const struct diff_recording *recording = &job->recordings->items[i];
		const struct perfdata_origin origin = origin_of(perfdata_reader_features(recording->source.reader));
		if (origin.kind == ORIGIN_EVENTS)
			continue;
		is_any = true;
		text_printf(job->out, "# [%zu] ", i);
		text_visible(job->out, str_from(recording->path));
		text_str(job->out, ": ");
		origin_text(job->out, &origin);
		text_char(job->out, '\n');
	}
	text_str(job->out, is_any ? "#\n" : "");
}

static void diff_run_print_title(const struct diff_run_job *job, uint32_t event)
{
	const struct diff_recordings *recordings = job->recordings;
	const struct profile *p = recordings->items[0].result.profile;
	struct tally_str name = profile_string(p, p->events[event].name);
	text_str(job->out, event ? "\n" : "");
	text_str(job->out, "# Event '");
	text_bytes(job->out, name.data, name.len);
	text_str(job->out, "'\n#\n");
	if (event == 0)
		print_origins(job);
	if (recordings->count <= FILES_UNNAMED && !job->request->verbose)
		return;
	text_str(job->out, "# Data files:\n");
	for (size_t i = 0; i < recordings->count; i++)
		text_printf(job->out, "#  [%zu] %s %s\n", i, recordings->items[i].path, i ? "" : "(Baseline)");
	text_str(job->out, "#\n");
}

static enum tally_status diff_run_print_text(
	const struct diff_run_job *job, const struct diff_output *output, struct tally_error *err)
{
	const struct diff_request *request = job->request;
	struct diff_text_options options = {
		.columns = request->columns,
		.column_count = request->column_count,
		.separator = request->separator,
		.is_quiet = request->is_quiet,
		.with_formula = request->with_formula,
		.with_periods = request->with_periods,
		.with_spread = request->with_spread,
		.blocks = output->blocks,
	};
	if (output->changes && !request->is_quiet)
		diff_comparison_lines(job->out, output);
	enum tally_status status = output->changes
					   ? changes_text_rows(job->out, output->diff, output->changes, &options, err)
					   : diff_text_rows(job->out, output->diff, &options, err);
	if (status == TALLY_OK && output->paths)
		status = paths_text(job->out, output->paths, &output->path_options, err);
	return status;
}

static void say_failure(const char *event, struct tally_str name, const struct diff_change *change)
{
	struct text line = {0};
	changes_text_change(&line, change);
	text_char(&line, ' ');
	changes_text_interval(&line, change);
	text_str(&line, ", p ");
	changes_text_p(&line, change->adjusted_p);
	text_char(&line, 0);
	fflush(stdout);
	cli_sayf("%s: %.*s: %s\n", event, (int)name.len, name.data, line.failed ? "" : line.data);
	text_deinit(&line);
}

/* If no row fails but there are too few recordings to detect a change, the gate has not passed either. */
static void tell_undecided(struct diff_run_job *job, const struct diff_output *output)
{
	const struct diff_gate *gate = &job->request->gate;
	const struct diff_test *test = &output->test;
	for (size_t i = 0; i < gate->count; i++) {
		const struct diff_gate_clause *clause = &gate->clauses[i];
		bool is_total = clause->kind == DIFF_GATE_TOTAL;
		size_t rows = is_total ? 1 : output->changes->tested_count;
		size_t needed =
			diff_few_needed(&test->sides, is_total ? RUN_CORRECT_NONE : test->correction, rows, clause->p);
		if (needed == 0 || rows == 0)
			continue;
		job->outcome.is_undecided = true;
		cli_sayf(
			"%s: undecided: %zu recordings against %zu are too few to tell whether nothing changed at p<%g "
			"over %zu %s; %zu a side are needed\n",
			output->event.data, test->sides.base, test->sides.other, clause->p, rows,
			rows == 1 ? "row" : "rows", needed);
	}
}

/* Reports on standard error the changes that --fail-if selects, so that a build's log contains them. */
static void check_gate(struct diff_run_job *job, const struct diff_output *output)
{
	const struct diff_gate *gate = &job->request->gate;
	const struct diff_changes *changes = output->changes;
	struct text name = {0};
	if (!changes || gate->count == 0)
		return;
	size_t failed_before = job->outcome.failures;
	job->judged += changes->tested_count;
	(void)text_flush(job->out);
	if (changes->has_total && diff_gate_total_fails(gate, &changes->total)) {
		job->outcome.failures++;
		say_failure(output->event.data, STR("total"), &changes->total);
	}
	for (size_t i = 0; i < changes->tested_count; i++) {
		const struct diff_change *change = &changes->rows[changes->order[i]];
		if (!diff_gate_row_fails(gate, change))
			continue;
		job->outcome.failures++;
		text_clear(&name);
		for (size_t k = 0; k < job->request->key_count; k++) {
			text_str(&name, k ? " " : "");
			changes_json_key_text(&name, output->diff, changes->order[i], job->request->keys[k]);
		}
		say_failure(output->event.data, (struct tally_str){name.data, name.len}, change);
	}
	if (job->outcome.failures == failed_before)
		tell_undecided(job, output);
	text_deinit(&name);
}

static enum tally_status diff_run_print_event(
	struct diff_run_job *job, uint32_t event, const struct diff_output *output, struct tally_error *err)
{
	enum tally_status status = TALLY_OK;
	switch (job->request->format) {
	case DIFF_FORMAT_TEXT:
		if (!job->request->is_quiet)
			diff_run_print_title(job, event);
		status = diff_run_print_text(job, output, err);
		break;
	case DIFF_FORMAT_JSON:
		diff_json_event(&job->json, output);
		break;
	case DIFF_FORMAT_MARKDOWN:
		diff_markdown_event(job->out, output);
		if (output->paths) {
			text_str(job->out, "```\n");
			status = paths_text(job->out, output->paths, &output->path_options, err);
			text_str(job->out, "```\n\n");
		}
		break;
	}
	check_gate(job, output);
	return status;
}

/* Without a statistical test, computes the shares in the baseline and in the file by which rows are sorted. */
static enum tally_status share_paths(const struct diff_run_job *job, const struct diff_paths *paths,
	struct diff_changes *changes, struct tally_error *err)
{
	size_t file = job->request->order ? (size_t)job->request->order : 1;
	changes->rows = calloc(paths->count + 1, sizeof(*changes->rows));
	if (!changes->rows)
		return error_nomem(err);
	for (size_t i = 0; i < paths->count; i++) {
		if (paths->totals[0])
			changes->rows[i].base_share = DIFF_RUN_PERCENT * (double)diff_paths_value(paths, i, 0)->period /
						      (double)paths->totals[0];
		if (paths->totals[file])
			changes->rows[i].new_share = DIFF_RUN_PERCENT *
						     (double)diff_paths_value(paths, i, file)->period /
						     (double)paths->totals[file];
	}
	return TALLY_OK;
}

static enum tally_status compare_paths(const struct diff_run_job *job, struct diff_output *output,
	struct diff_paths *paths, struct diff_changes *changes, struct tally_error *err)
{
	const struct diff_request *request = job->request;
	if (!request->with_paths)
		return TALLY_OK;
	const struct diff_paths_options options = {request->paths_by_line, &job->match};
	enum tally_status status = diff_paths_init(paths, job->sources, job->recordings->count, &options, err);
	if (status != TALLY_OK)
		return status;
	if (request->is_repeated) {
		struct diff_amounts amounts = {paths->values, paths->count, paths->totals};
		status = diff_statistics(&amounts, &output->test, changes, err);
	} else {
		status = share_paths(job, paths, changes, err);
	}
	output->paths = paths;
	output->path_options = (struct paths_text_options){.changes = changes->rows,
		.is_tested = request->is_repeated,
		.min_change = request->test.min_share,
		.is_quiet = request->is_quiet};
	return status;
}

static enum tally_status compare_event(struct diff_run_job *job, uint32_t event, struct tally_error *err)
{
	const struct diff_request *request = job->request;
	struct diff_options options = {
		.keys = request->keys,
		.key_count = request->key_count,
		.method = request->method,
		.base_weight = request->base_weight,
		.new_weight = request->new_weight,
		.order_file = (size_t)request->order,
		.is_baseline_only = request->is_baseline_only,
		.is_seen = job->is_seen,
		.is_relative = request->is_relative,
		.match = &job->match,
	};
	const struct profile *p = job->recordings->items[0].result.profile;
	struct diff_table diff;
	struct diff_changes changes = {0}, path_changes = {0};
	struct diff_paths paths = {0};
	enum tally_status status = diff_table_init(&diff, job->tables, job->recordings->count, &options, err);
	if (status != TALLY_OK)
		return status;
	job->matched += diff_table_matched_functions(&diff);
	struct diff_output output = {.request = request,
		.recordings = job->recordings,
		.event = profile_string(p, p->events[event].name),
		.diff = &diff,
		.changes = request->is_repeated ? &changes : NULL,
		.test = request->test};
	if (request->is_repeated) {
		struct diff_amounts amounts = {diff.values, diff.row_count, diff.totals};
		status = diff_statistics(&amounts, &output.test, &changes, err);
	}
	if (status == TALLY_OK)
		status = compare_paths(job, &output, &paths, &path_changes, err);
	struct diff_cycles cycles = {0};
	if (status == TALLY_OK && request->method == DIFF_CYCLES) {
		struct diff_cycles_input input = {job->cli, request, job->recordings, event};
		status = diff_cycles_read(&input, &diff, &cycles, err);
		output.blocks = cycles.blocks;
	}
	if (status == TALLY_OK)
		status = diff_run_print_event(job, event, &output, err);
	diff_cycles_deinit(&cycles);
	diff_paths_deinit(&paths);
	diff_changes_deinit(&path_changes);
	diff_changes_deinit(&changes);
	diff_table_deinit(&diff);
	return status;
}

/* Compares the baseline with each of the other recordings. */
static enum tally_status run_streams(const struct diff_run_job *job, uint32_t event, struct tally_error *err)
{
	const struct diff_recordings *all = job->recordings;
	struct hot_streams before = {0};
	enum tally_status status = diff_recording_streams(all, 0, event, job->request, &before, err);
	for (size_t i = 1; status == TALLY_OK && i < all->count; i++) {
		struct hot_streams after = {0};
		status = diff_recording_streams(all, i, event, job->request, &after, err);
		if (all->count > 2)
			text_printf(job->out, "# [0] %s and [%zu] %s\n#\n", all->items[0].path, i, all->items[i].path);
		if (status == TALLY_OK)
			streams_text(job->out, &before, &after);
		hot_streams_deinit(&after);
	}
	hot_streams_deinit(&before);
	return status;
}

static bool is_seen_before(const struct diff_recordings *all, size_t file, uint32_t event, uint32_t counterpart)
{
	for (uint32_t before = 0; file && before < event; before++)
		if (diff_recording_event(&all->items[file], &all->items[0], before) == counterpart)
			return true;
	return false;
}

static enum tally_status run_event(struct diff_run_job *job, uint32_t event, struct tally_error *err)
{
	const struct diff_recordings *all = job->recordings;
	enum tally_status status = TALLY_OK;
	for (size_t i = 0; i < all->count; i++) {
		uint32_t same = i ? diff_recording_event(&all->items[i], &all->items[0], event) : event;
		job->tables[i] = NULL;
		job->is_seen[i] = is_seen_before(all, i, event, same);
		job->sources[i] = (struct diff_path_source){.profile = all->items[i].result.profile,
			.event = same,
			.filter = &all->items[i].filter,
			.cpu_passes = all->cpus,
			.cpu_limit = all->cpus ? LIMIT_CPUS : 0};
		if (same == PROFILE_NONE || status != TALLY_OK)
			continue;
		status = diff_recording_table(all, i, same, job->request, &job->made[i], err);
		if (status != TALLY_OK)
			continue;
		job->tables[i] = &job->made[i];
		job->rows[i].tables++;
		job->rows[i].rows += job->made[i].shown_count;
	}
	if (status == TALLY_OK)
		status = compare_event(job, event, err);
	for (size_t i = 0; i < all->count; i++)
		if (job->tables[i])
			flat_table_deinit(&job->made[i]);
	return status;
}

/* Notes which recordings have samples but no rows, because filters exclude all their samples. */
static void note_what_is_empty(const struct diff_run_job *job)
{
	for (size_t i = 0; i < job->recordings->count; i++) {
		const struct diff_recording *recording = &job->recordings->items[i];
		uint64_t samples = recording->result.health.samples;
		if (samples == 0 || job->rows[i].tables == 0 || job->rows[i].rows > 0)
			continue;
		(void)text_flush(job->out);
		cli_note_empty(job->cli, recording->path, samples);
	}
}

static enum tally_status match_names(struct diff_run_job *job, struct tally_error *err)
{
	size_t count = job->recordings->count;
	const struct profile **profiles = calloc(count, sizeof(struct profile *));
	if (!profiles)
		return error_nomem(err);
	for (size_t i = 0; i < count; i++)
		profiles[i] = job->recordings->items[i].result.profile;
	enum tally_status status = name_match_init(&job->match, profiles, count, err);
	free(profiles);
	return status;
}

/* Returns whether the rows depend on matching functions by name. Other rows, such as those per thread, do not. */
static bool shows_functions(const struct diff_run_job *job)
{
	const struct diff_request *request = job->request;
	bool has_symbol = false;
	for (size_t k = 0; k < request->key_count; k++)
		has_symbol |= request->keys[k] == KEY_SYMBOL;
	for (size_t i = 0; i < job->recordings->count; i++)
		if (job->recordings->items[i].result.profile->function_count == 0 || job->rows[i].rows == 0)
			return false;
	return has_symbol && !request->with_streams;
}

static void note_what_matched(const struct diff_run_job *job)
{
	struct diag notes;
	diag_init(&notes);
	match_notes_add(&notes, &job->match);
	if (job->matched == 0 && shows_functions(job))
		match_notes_add_none(&notes, job->recordings->items[0].path, job->recordings->items[1].path,
			"if their programs have different names, '-s sym' compares functions without them");
	(void)text_flush(job->out);
	cli_print_diag(job->cli, &notes);
	diag_deinit(&notes);
}

/* Returns whether another event includes this one: in a wall-clock recording, the event of waits is merged with that of
 * the clock. */
static bool is_in_another_event(const struct diff_run_job *job, uint32_t event)
{
	const struct diff_recording *first = &job->recordings->items[0];
	return first->waits.are_joined && first->waits.wait == event;
}

static enum tally_status run_events(struct diff_run_job *job, struct tally_error *err)
{
	size_t count = job->recordings->count, events = job->recordings->items[0].result.profile->event_count;
	job->made = calloc(count, sizeof(*job->made));
	job->tables = calloc(count, sizeof(struct flat_table *));
	job->sources = calloc(count, sizeof(*job->sources));
	job->is_seen = calloc(count, sizeof(*job->is_seen));
	job->rows = calloc(count, sizeof(*job->rows));
	bool has_room = job->made && job->tables && job->sources && job->is_seen && job->rows;
	enum tally_status status = has_room ? match_names(job, err) : error_nomem(err);
	if (job->request->format == DIFF_FORMAT_JSON)
		diff_json_begin(&job->json, job->request, job->recordings);
	for (uint32_t event = 0; status == TALLY_OK && event < events; event++)
		if (!is_in_another_event(job, event))
			status = job->request->with_streams ? run_streams(job, event, err) : run_event(job, event, err);
	if (status == TALLY_OK && !job->request->is_quiet) {
		note_what_is_empty(job);
		note_what_matched(job);
	}
	if (status == TALLY_OK && job->request->gate.count > 0 && job->judged == 0) {
		(void)text_flush(job->out);
		fprintf(stderr, "undecided: no row of the recordings has %g%% of the samples\n",
			job->request->test.min_share);
		job->outcome.is_undecided = true;
	}
	if (job->request->format == DIFF_FORMAT_JSON)
		diff_json_end(&job->json, job->request, &job->match,
			&(struct diff_json_gate){job->outcome.failures, job->outcome.is_undecided});
	name_match_deinit(&job->match);
	free(job->made);
	free(job->tables);
	free(job->sources);
	free(job->is_seen);
	free(job->rows);
	return status;
}

static enum tally_status diff_run_dump(
	const struct cli *cli, const struct diff_request *request, struct text *out, struct tally_error *err)
{
	enum tally_status status = TALLY_OK;
	for (size_t i = 0; i < request->path_count && status == TALLY_OK; i++) {
		struct data_source source;
		const struct data_input input = {.file = {request->paths[i], request->force}};
		const struct report_dump_options options = {.file_name = request->paths[i], .has_no_counts = true};
		struct input_health health = {0};
		status = data_source_open_reader(&input, &source, err);
		if (status != TALLY_OK)
			return status;
		status = report_dump(out, source.reader, &options, &health, err);
		status = status == TALLY_END ? TALLY_OK : status;
		data_source_close(&source);
		if (!request->is_quiet)
			cli_print_health(cli, &health);
	}
	return status;
}

enum tally_status diff_run(const struct cli *cli, const struct diff_request *request, struct text *out,
	struct diff_outcome *outcome, struct tally_error *err)
{
	struct diff_recordings recordings;
	struct replay_options options = {.with_stacks = request->with_paths || request->with_streams,
		.with_inlines = request->with_paths,
		.with_lines = request->paths_by_line || request->with_streams,
		.with_addresses = request->with_streams,
		.history = request->with_streams ? HISTORY_NEWEST_FIRST : HISTORY_NONE};
	if (request->dump)
		cli_start_pager(cli);
	enum tally_status status = request->dump ? diff_run_dump(cli, request, out, err) : TALLY_OK;
	if (status == TALLY_OK)
		status = diff_recordings_open(cli, request, &options, &recordings, err);
	if (status != TALLY_OK)
		return status;
	cli_start_pager(cli); /* The pager starts only after reading, so that the progress line remains visible. */
	struct diff_run_job job = {
		.request = request, .recordings = &recordings, .cli = cli, .out = out, .json.out = out};
	status = run_events(&job, err);
	*outcome = job.outcome;
	diff_recordings_close(&recordings);
	return status;
}

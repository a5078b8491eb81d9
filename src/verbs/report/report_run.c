/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/report/report_run.h"

#include <inttypes.h>
#include <stdlib.h>

#include "analysis/replay/replay.h"
#include "analysis/wait_events.h"
#include "base/array.h"
#include "base/error.h"
#include "base/limits.h"
#include "cli/progress_line.h"
#include "perfdata/feature_table.h"
#include "perfdata/origin.h"
#include "tasks/header/header_json.h"
#include "tasks/header/header_text.h"
#include "tasks/reporting/report_replay.h"
#include "tasks/reporting/report_selection.h"
#include "tasks/reporting/report_tables.h"
#include "tasks/session/advice_notes.h"
#include "tasks/session/cpu_filter.h"
#include "tasks/session/data_source.h"
#include "tasks/session/idle_notes.h"
#include "tasks/session/recording_input.h"
#include "tasks/session/report_dump.h"
#include "tasks/session/report_stats.h"
#include "tasks/session/symbol_notes.h"
#include "verbs/report/branch_mix.h"
#include "verbs/report/report_json.h"
#include "verbs/report/report_load.h"
#include "verbs/report/report_missing.h"
#include "verbs/report/report_notes.h"
#include "verbs/report/report_session.h"
#include "verbs/report/report_tasks.h"
#include "view/data/report_json.h"
#include "view/text/report_hierarchy.h"
#include "view/text/report_text.h"

struct report {
	const struct cli *cli;
	struct report_request *request;
	struct report_plan plan;
	bool branches_are_late; /* The member of the same name of struct report_source. */
	const char *path;
	struct text *out;
	struct diag *notes;
	struct data_source recording; /* Only its reader and store are used. */
	struct replay_result result;
	struct profile_filter filter;
	struct explore_begun begun; /* Used only with is_interactive. */
	bool *cpus; /* Indexed by CPU, those of -C; NULL selects all CPUs. */
	bool *socket_cpus; /* Indexed by CPU, those of the requested socket; NULL selects all CPUs. */
	uint32_t socket_cpu_count;
	bool *parallelism; /* Indexed by the number of running threads; NULL selects any number. */
	struct quality quality;
	struct json json; /* The output of --json. */
	bool is_met; /* The result of --require. */
	struct report_fields fields;
	bool lacks_formats; /* Set after missing formats of tracepoints have been reported. */
	bool stitching_is_checked;
};

static const char *const tips[] = {
	"Totals per program rather than per function: tally report -s comm,dso",
	"Only what matters: tally report --percent-limit 1",
	"Columns for a spreadsheet: tally report -t ,",
	"One line per call chain: tally report --no-children -g folded",
	"Every single sample with its time: tally script",
};

static bool has_switches(const struct perfdata_reader *reader)
{
	size_t count;
	const struct perfdata_event *events = perfdata_reader_events(reader, &count);
	for (size_t i = 0; i < count; i++)
		if (events[i].attr.flags >> ATTR_BIT_CONTEXT_SWITCH & 1)
			return true;
	return false;
}

/* Rows per tracepoint field need the formats of tracepoints. If these are missing or damaged, other rows are shown. */
static bool has_formats(struct report *report)
{
	if (report->lacks_formats)
		return false;
	report->lacks_formats = !report_notes_formats(report->cli, report->recording.reader);
	return !report->lacks_formats;
}

static bool shows_rows(const struct report_request *r)
{
	return !r->output.header_only && !r->output.tasks && !r->output.mmaps && !r->output.dump && !r->output.stats;
}

static struct report_source describe_source(struct report *report)
{
	size_t count;
	const struct perfdata_event *events = perfdata_reader_events(report->recording.reader, &count);
	struct report_source source = {
		.has_chains = perfdata_reader_has_samples_with(report->recording.reader, SAMPLE_CALLCHAIN),
		.is_pipe = perfdata_reader_is_pipe(report->recording.reader),
		.is_all_tracepoints = count > 0,
		.has_branches = recording_has_branches(report->recording.reader),
		.has_groups = perfdata_events_have_groups(events, count),
		.branches_are_late = report->branches_are_late,
		.parallelism = report->parallelism,
		.fields = &report->fields,
	};
	for (size_t i = 0; i < count; i++)
		source.is_all_tracepoints = source.is_all_tracepoints && events[i].attr.type == EVENT_TRACEPOINT;
	source.is_all_tracepoints = source.is_all_tracepoints && !source.is_pipe && !report->request->rows.sort &&
				    shows_rows(report->request) && has_formats(report);
	return source;
}

static struct data_input report_run_input(const struct report_request *r)
{
	struct data_input input = {.file = r->input, .traces = r->traces, .symbols = r->symbols};
	/* --missing lists where files were searched, but symbols from an index are found without searching. */
	input.symbols.ignores_index = r->output.missing;
	return input;
}

static void print_filter_line(struct report *report, enum profile_key key, const char *name)
{
	struct tally_str only = report_request_only(report->request, key);
	if (only.len && report_plan_has_key(&report->plan, key))
		text_printf(report->out, "# %s: %.*s\n", name, (int)only.len, only.data);
}

/* A column that a filter on a single name makes constant is replaced by a line above the tables. */
static void print_filter_lines(struct report *report)
{
	print_filter_line(report, KEY_COMM, "comm");
	print_filter_line(report, KEY_DSO, "dso");
	print_filter_line(report, KEY_SYMBOL, "symbol");
}

static void report_run_name_events(
	const struct report *report, const struct profile *p, struct text *name, uint32_t first, uint32_t count)
{
	bool is_recorded_group = count > 1 && p->events[first].member_count > 1;
	if (is_recorded_group) {
		struct tally_str group = feature_group_name(perfdata_reader_features(report->recording.reader), first);
		text_bytes(name, group.data, group.len);
		text_str(name, " { ");
	}
	for (uint32_t i = 0; i < count; i++) {
		struct tally_str event = profile_string(p, p->events[first + i].name);
		text_str(name, i ? ", " : "");
		text_bytes(name, event.data, event.len);
	}
	text_str(name, is_recorded_group ? " }" : "");
	text_char(name, 0);
}

/* print formats the title in full or as one line. While a recording is being loaded, the table belongs to a partial
 * profile, not to that of the report. */
static void report_run_print_title(const struct report *report, const struct flat_table *table, struct text *out,
	void (*print)(struct text *, const struct report_title *))
{
	const struct profile *p = table->profile;
	uint32_t first = table->options.first_event, count = table->options.member_count;
	struct text name = {0};
	struct report_title title = {.is_group = p->events[first].member_count > 1 || count > 1,
		.times = report->request->samples.times,
		.socket = report->request->selection.has_socket ? &report->request->selection.socket : NULL};
	struct text keys = {0};
	report_plan_print_sort(&report->plan, &keys);
	text_char(&keys, 0);
	if (report->plan.mode == KEY_MODE_MEMORY && !keys.failed)
		title.sort_order = keys.data;
	uint64_t branched = 0;
	report_run_name_events(report, p, &name, first, count);
	title.event = name.failed ? "" : name.data;
	title.has_reference = report->request->look.shows_reference && strstr(title.event, "call-graph=no");
	for (uint32_t m = 0; m < count; m++) {
		const struct flat_total *t = &table->totals[m];
		title.sample_count += report->request->look.is_relative ? t->passed_count : t->count;
		title.total_period += flat_total_period(t, report->request->look.is_relative);
		if (report->plan.mode == KEY_MODE_BRANCH)
			branched += p->events[first + m].branched_count;
	}
	if (report->plan.mode == KEY_MODE_BRANCH)
		title.sample_count = branched;
	print(out, &title);
	text_deinit(&keys);
	text_deinit(&name);
}

static enum tally_status report_run_print_rows(struct report *report, const struct flat_table *table,
	const struct hierarchy *tree, const struct report_text_options *options, struct tally_error *err)
{
	enum tally_status status;
	if (report->request->output.is_json)
		return report_json_table(&report->json, table, tree, options, err);
	if (!report->request->is_quiet)
		report_run_print_title(report, table, report->out, report_text_title);
	status = tree ? report_hierarchy_rows(report->out, tree, options, err)
		      : report_text_rows(report->out, table, options, err);
	text_str(report->out, "\n\n");
	return status;
}

static enum tally_status report_run_print_table(
	struct report *report, const struct flat_table *table, struct tally_error *err)
{
	struct report_text_options options = report_tables_options(&report->plan);
	struct report_tree tree;
	enum tally_status status = report_tree_init(&tree, &report->plan, table, err);
	if (status != TALLY_OK)
		return status;
	options.levels = tree.levels;
	options.terminal_columns = report->request->look.width_count ? 0 : report->request->look.terminal_columns;
	status = report_run_print_rows(report, table, tree.is_made ? &tree.hierarchy : NULL, &options, err);
	report_tree_deinit(&tree);
	return status;
}

static enum tally_status check_group_sort(const struct report *report, uint32_t members, struct tally_error *err)
{
	if (!report->request->groups.sort_is_set || members > 1)
		return TALLY_OK;
	return error_set(err, TALLY_INVALID, "--group-sort-idx needs events in a group; --group makes one of all");
}

static struct report_tables report_run_tables_of(const struct report *report)
{
	return (struct report_tables){&report->plan, report->result.profile, &report->filter, report->cpus};
}

static enum tally_status report_events(struct report *report, uint32_t first, uint32_t count, struct tally_error *err)
{
	struct report_tables tables = report_run_tables_of(report);
	struct flat_table table;
	enum tally_status status = report_tables_make(&tables, first, count, &table, err);
	if (status != TALLY_OK)
		return status;
	if (report_tables_is_shown(&tables, &table))
		status = report_run_print_table(report, &table, err);
	if (table.shown_count == 0 && report_tables_is_shown(&tables, &table))
		report_notes_no_rows(report->notes, &table);
	if (table.has_cut_chains)
		report_notes_cut_stacks(report->notes, &table);
	flat_table_deinit(&table);
	return status;
}

/* Returns whether the sample passes the options -C and -U. */
static bool report_run_is_counted(const struct report *report, const struct profile_sample *sample)
{
	int32_t cpu = sample->cpu;
	if (report->cpus && (cpu < 0 || (uint32_t)cpu >= LIMIT_CPUS || !report->cpus[cpu]))
		return false;
	return !report->request->rows.hides_unresolved ||
	       report->result.profile->frames[sample->leaf].function != PROFILE_NONE;
}

static bool report_run_has_samples(const struct report *report)
{
	const struct profile *p = report->result.profile;
	for (size_t i = 0; i < p->sample_count; i++)
		if (report_run_is_counted(report, &p->samples[i]))
			return true;
	return false;
}

/* As in perf, filters on rows do not affect the branch statistics. */
static void show_branch_types(const struct report *report, struct json *j)
{
	const struct profile *p = report->result.profile;
	struct branch_mix mix = {0};
	if (!(p->facets >> FACET_BRANCH_KIND & 1))
		return;
	for (size_t i = 0; i < p->sample_count; i++) {
		const struct profile_sample *sample = &p->samples[i];
		const struct profile_value *kind = profile_facet(p, sample->facets, FACET_BRANCH_KIND);
		if (kind && report_run_is_counted(report, sample) && !profile_frame_is_guest(&p->frames[sample->leaf]))
			branch_mix_add(&mix, kind->number, sample->count);
	}
	if (j)
		branch_mix_json(&mix, j);
	else
		branch_mix_print(&mix, report->out);
}

static void print_short_title(void *data, const struct flat_table *table, struct text *out)
{
	const struct report *report = data;
	const struct perfdata_origin origin = origin_of(perfdata_reader_features(report->recording.reader));
	if (origin.kind != ORIGIN_EVENTS)
		text_printf(out, "[%s] ", origin_kind_name(origin.kind).data);
	report_run_print_title(report, table, out, report_text_title_line);
}

static enum tally_status explore_report(struct report *report, struct tally_error *err)
{
	struct report_tables tables = report_run_tables_of(report);
	if (report->begun.leaves)
		return TALLY_OK;
	struct report_session session = {.cli = report->cli,
		.request = report->request,
		.plan = &report->plan,
		.source = describe_source(report),
		.fields = &report->fields,
		.reader = report->recording.reader,
		.store = report->recording.store,
		.path = report->path,
		.result = &report->result,
		.filter = &report->filter,
		.cpus = report->cpus,
		.begun = &report->begun,
		.report = report,
		.print_title = print_short_title};
	enum tally_status status = check_group_sort(report, report_tables_members(&tables, 0), err);
	return status == TALLY_OK ? report_session_run(&session, err) : status;
}

static enum tally_status print_report(struct report *report, struct tally_error *err)
{
	const struct profile *p = report->result.profile;
	struct report_tables tables = report_run_tables_of(report);
	enum tally_status status = TALLY_OK;
	if (!report->request->output.is_json && !report->request->output.is_interactive)
		print_filter_lines(report);
	if (!report_run_has_samples(report)) {
		diag_add(report->notes, DIAG_ERROR, "The %s data has no samples!", report->path);
		cli_note_counts(report->cli, report->recording.reader, report->path);
		return TALLY_OK;
	}
	if (report->request->output.is_interactive)
		return explore_report(report, err);
	if (!report->request->output.is_json && !report->request->is_quiet) {
		origin_comment(report->out, perfdata_reader_features(report->recording.reader));
		text_printf(
			report->out, "#\n# Total Lost Samples: %" PRIu64 "\n#\n", report->result.health.lost_samples);
	}
	for (uint32_t event = 0; event < p->event_count && status == TALLY_OK;) {
		uint32_t count = report_tables_members(&tables, event);
		status = event == 0 ? check_group_sort(report, count, err) : TALLY_OK;
		if (status == TALLY_OK)
			status = report_events(report, event, count, err);
		event += count;
	}
	if (status == TALLY_OK && !report->request->is_quiet && !report->request->output.is_json) {
		const char *tip = tips[p->sample_count % (ARRAY_LEN(tips))];
		text_printf(report->out, "#\n# (Tip: %s)\n#\n", tip);
	}
	return status;
}

/* A stream contains the information of the header in its records. Damage is reported when its samples are read. */
static void read_stream_through(struct perfdata_reader *reader)
{
	struct record record;
	struct progress_line line;
	progress_line_start(&line);
	progress_begin(&line.progress, "reading the recording", 0);
	while (perfdata_reader_next(reader, &record, NULL) == TALLY_OK)
		progress_add(&line.progress, record.bytes.len);
	progress_line_stop(&line);
	perfdata_reader_rewind(reader);
}

static void print_file_header(struct report *report)
{
	const struct report_request *r = report->request;
	if (((r->output.header && !r->is_quiet) || r->output.header_only) && !r->output.is_json)
		header_text(report->out, report->recording.reader, r->output.full_info);
	else if (!r->is_quiet && !r->output.is_json && !r->output.is_interactive && !r->output.stats &&
		 !r->output.missing && !r->output.tasks && !r->output.mmaps)
		text_str(report->out, "# To display the perf.data header info, please use "
				      "--header/--header-only options.\n#\n");
}

static enum tally_status check_chains(struct report *report, struct tally_error *err)
{
	const struct report_request *r = report->request;
	struct perfdata_reader *reader = report->recording.reader;
	/* perf learns the contents of a pipe only while reading it, so missing data is not an error there. */
	bool is_pipe = perfdata_reader_is_pipe(reader);
	bool has_chains = is_pipe || perfdata_reader_has_samples_with(reader, SAMPLE_CALLCHAIN);
	bool has_branches = perfdata_reader_has_samples_with(reader, SAMPLE_BRANCH_STACK);
	bool asks_chains = r->chains.are_asked && r->chains.look.style != CHAIN_NONE && !report->plan.with_history;
	bool asks_branches = r->rows.branches == BRANCHES_ALWAYS || report->plan.mode == KEY_MODE_BRANCH;
	bool asks_switches = report_plan_facets(&report->plan) & UINT64_C(1) << FACET_PARALLELISM;
	bool has_data_sources = is_pipe || perfdata_reader_has_samples_with(reader, SAMPLE_DATA_SRC);
	bool has_waits = wait_events_find(reader, WAITS_APART).wait != WAIT_EVENT_NONE;
	const struct {
		bool is_lacking;
		const char *need, *option;
	} needs[] = {
		{r->chains.has_history && !has_chains && !recording_has_branches(reader),
			"--branch-history needs branch stacks", "-b"},
		{asks_chains && !has_chains, "-g needs call chains", "-g"},
		{report->plan.filters.parent && !has_chains, "-p and --sort parent need call chains", "-g"},
		{asks_branches && !has_branches, "-b needs branch stacks", "-b"},
		{asks_switches && !has_switches(reader), "latency and parallelism need context switches",
			"--switch-events"},
		{r->samples.filters.no_idle && !has_waits, "--no-idle hides waits", "'record --wall' or '--off-cpu'"},
		{r->rows.by_memory && !has_data_sources, "--mem-mode needs data sources", "-d"},
	};
	for (size_t k = 0; k < ARRAY_LEN(needs); k++)
		if (needs[k].is_lacking)
			return error_set(err, TALLY_INVALID, "%s, and this recording has none: was it made without %s?",
				needs[k].need, needs[k].option);
	if (r->rows.wall == WALL_ALWAYS && !wait_events_find(reader, WAITS_JOINED).are_joined)
		return error_set(err, TALLY_INVALID,
			"--wall needs the event offcpu-time and an event of a clock, and this recording lacks one: was "
			"it made without 'record --wall'?");
	if (r->rows.wakers && recording_check_wakers(reader, "this recording", err) != TALLY_OK)
		return TALLY_INVALID;
	if (r->chains.stitches && !report->stitching_is_checked && !report_lbr_registers(reader))
		diag_add(report->notes, DIAG_WARNING, REPORT_CANNOT_STITCH);
	report->stitching_is_checked = true;
	return sample_options_check(&r->samples, reader, err);
}

/* Returns NULL for text output. */
static struct json *json_of(struct report *report)
{
	return report->request->output.is_json ? &report->json : NULL;
}

static void report_run_begin_json(struct report *report)
{
	const struct report_request *r = report->request;
	report_json_begin(&report->json, report->path, perfdata_reader_features(report->recording.reader));
	if (r->output.header || r->output.header_only || r->output.full_info)
		header_json(&report->json, report->recording.reader, r->output.full_info);
}

static enum tally_status show_tables(struct report *report, struct tally_error *err)
{
	const struct report_request *r = report->request;
	struct debuginfod_run debuginfod = {0};
	struct json *j = json_of(report);
	report_notes_input(report->notes, &report->result, report->recording.store, r->is_verbose);
	advice_notes_add(report->notes, report->recording.reader, report->result.profile);
	advice_notes_waits(report->notes, report->recording.reader);
	idle_notes_add(report->notes, &report->filter);
	if (report_plan_facets(&report->plan) >> FACET_CGROUP & 1)
		advice_notes_cgroups(report->notes, report->recording.reader, report->cli->program);
	if (r->samples.times)
		report_notes_times(report->notes, report->recording.reader);
	if (!r->rows.self_is_inlined && !r->rows.no_inline)
		report_notes_self(report->notes, report->result.profile);
	debuginfod_run_start(&debuginfod, &r->debuginfod, report->recording.store, &report->result.hits, report->notes);
	quality_measure(&report->quality, report->recording.reader, &report->result);
	if (j)
		json_array(j, "tables");
	enum tally_status status = print_report(report, err);
	if (j) {
		json_array_end(j);
		report_json_quality(j, &report->quality, &r->requirements);
	}
	debuginfod_run_end(&debuginfod, report->notes);
	report->is_met = report_notes_quality(report->notes, &report->quality, &r->requirements);
	return status;
}

static enum tally_status show_profile(struct report *report, struct tally_error *err)
{
	const struct report_request *r = report->request;
	struct json *j = json_of(report);
	enum tally_status status = TALLY_OK;
	if (j)
		report_run_begin_json(report);
	if (!r->output.missing)
		status = show_tables(report, err);
	else if (j)
		report_missing_json(j, report->recording.store, &report->result.hits, r->is_verbose);
	else
		report_missing(report->out, report->recording.store, &report->result.hits, r->is_verbose);
	/* As in perf, text output without samples has no table of counts either. */
	if (status == TALLY_OK && r->output.threads && (j || r->output.missing || report_run_has_samples(report)))
		status = report_read_values(report->out, j, report->recording.reader, r->output.is_raw_pretty, err);
	if (status == TALLY_OK && !r->output.missing)
		show_branch_types(report, j);
	if (j)
		json_object_end(j);
	return status;
}

/* Reads the profile for text output. After that, the plan is checked again, because a stream may lack data that the
 * plan assumed. */
static enum tally_status report_run_read_profile(
	struct report *report, struct tally_error *inner, struct tally_error *err)
{
	const struct report_request *r = report->request;
	struct report_replay wanted = {
		.plan = &report->plan, .fields = &report->fields, .reader = report->recording.reader};
	enum tally_status status = report_replay_run(&wanted, report->recording.store, &report->result, err);
	/* The pager starts only after reading, so that the progress line remains visible. */
	cli_start_pager(report->cli);
	if (!report->result.profile)
		return status;
	if (!r->is_quiet)
		cli_print_health(report->cli, &report->result.health);
	struct report_source source = describe_source(report);
	inner->status = check_chains(report, inner);
	if (inner->status == TALLY_OK)
		inner->status = report_plan_make(r, &source, &report->plan, inner);
	if (inner->status == TALLY_OK)
		inner->status =
			profile_filter_init(&report->filter, report->result.profile, &report->plan.filters, inner);
	report->filter.cpu_passes = report->socket_cpus;
	report->filter.cpu_limit = report->socket_cpu_count;
	if (inner->status == TALLY_OK)
		report_notes_guests(report->notes, report->result.profile);
	return status;
}

/* Reads the profile while the interactive screen already shows parts of it. */
static enum tally_status load_profile(struct report *report, struct tally_error *err)
{
	struct report_load load = {
		.wanted = {.plan = &report->plan, .fields = &report->fields, .reader = report->recording.reader},
		.store = report->recording.store,
		.path = report->path,
		.cpus = report->cpus,
		.socket_cpus = report->socket_cpus,
		.socket_cpu_count = report->socket_cpu_count,
		.report = report,
		.print_title = print_short_title};
	struct report_loaded loaded;
	enum tally_status status = report_load(&load, &loaded, err);
	report->result = loaded.result;
	report->filter = loaded.filter;
	report->begun = loaded.begun;
	return status;
}

static enum tally_status run_replay(struct report *report, struct tally_error *err)
{
	struct report_request *r = report->request;
	struct tally_error inner = {0};
	const struct data_input input = report_run_input(r);
	enum tally_status status = data_source_open_store(report->cli, &input, &report->recording, err);
	if (status == TALLY_OK && r->selection.has_socket)
		status = report_socket_cpus(report->recording.reader, r->selection.socket, &report->socket_cpus,
			&report->socket_cpu_count, err);
	if (status != TALLY_OK)
		return status;
	status = r->output.is_interactive ? load_profile(report, err) : report_run_read_profile(report, &inner, err);
	if (report->result.profile && inner.status == TALLY_OK)
		inner.status = show_profile(report, &inner);
	if (r->output.is_interactive) {
		explore_begun_end(&report->begun);
		if (!r->is_quiet)
			cli_print_health(report->cli, &report->result.health);
	}
	if (inner.status != TALLY_OK) {
		status = inner.status;
		if (err)
			*err = inner;
	}
	return status;
}

/* Prints the records themselves or statistics of them, without a profile. */
static enum tally_status show_records(struct report *report, struct tally_error *err)
{
	const struct report_request *r = report->request;
	struct json *j = json_of(report);
	enum tally_status status = TALLY_OK;
	cli_start_pager(report->cli);
	if (j)
		report_run_begin_json(report);
	else
		print_filter_lines(report);
	if (r->output.tasks || r->output.mmaps) {
		status = report_tasks(report->out, j, report->recording.reader, r->output.mmaps, err);
	} else if (r->output.stats && !r->output.dump) { /* -D prints the counts itself, below the records. */
		status = report_stats(report->out, j, report->recording.reader, r->look.keeps_empty, true, err);
	} else {
		const struct report_dump_options options = {.file_name = report->path,
			.in_file_order = r->output.in_file_order,
			.with_zeros = r->look.keeps_empty};
		struct input_health health = {0};
		status = report_dump(report->out, report->recording.reader, &options, &health, err);
		(void)text_flush(report->out); /* Flushed so that messages follow the output. */
		if (!r->is_quiet)
			cli_print_health(report->cli, &health);
	}
	if (j)
		json_object_end(j);
	return status == TALLY_END ? TALLY_OK : status;
}

/* Makes the plan. perf selects the mode (rows by sample or by branch) before it knows the events of a stream, so that
 * only -b or a sort key selects branches, whatever events the stream has. */
static enum tally_status report_run_plan(struct report *report, struct report_source *source, struct tally_error *err)
{
	source->branches_are_late = source->is_pipe;
	enum tally_status status = report_plan_make(report->request, source, &report->plan, err);
	if (status != TALLY_OK && source->is_pipe && source->has_branches &&
		report->request->rows.branches == BRANCHES_IF_RECORDED) {
		source->branches_are_late = false;
		status = report_plan_make(report->request, source, &report->plan, err);
	}
	report->branches_are_late = report->plan.mode != KEY_MODE_BRANCH;
	return status;
}

static enum tally_status report_run_opened(struct report *report, struct tally_error *err)
{
	const struct report_request *r = report->request;
	enum tally_status status = TALLY_OK;
	/* The plan depends on the events, which a stream declares in its records. */
	if (perfdata_reader_is_pipe(report->recording.reader))
		read_stream_through(report->recording.reader);
	if (r->samples.cpus)
		status = cpu_filter_parse(r->samples.cpus, &report->cpus, err);
	if (status == TALLY_OK && r->selection.parallelism)
		status = report_parallelism_levels(r->selection.parallelism, &report->parallelism, err);
	if (status != TALLY_OK)
		return status;
	struct report_source source = describe_source(report);
	/* A pipe that has not been read may still contain call chains. */
	bool is_known = !source.is_pipe || r->output.is_interactive;
	source.has_chains = source.has_chains || !is_known;
	status = report_run_plan(report, &source, err);
	if (status != TALLY_OK)
		return status;
	print_file_header(report);
	if (r->output.header_only) {
		cli_start_pager(report->cli);
		if (r->output.is_json) {
			report_run_begin_json(report);
			json_object_end(&report->json);
		}
		return TALLY_OK;
	}
	if (r->output.tasks || r->output.mmaps || r->output.dump || r->output.stats)
		return show_records(report, err);
	if (is_known)
		status = check_chains(report, err);
	if (status != TALLY_OK)
		cli_note_counts(report->cli, report->recording.reader, report->path);
	return status == TALLY_OK ? run_replay(report, err) : status;
}

enum tally_status report_run(const struct cli *cli, struct report_request *request,
	const struct report_streams *streams, bool *is_met, struct tally_error *err)
{
	struct text *out = streams->out;
	struct report report = {.cli = cli,
		.request = request,
		.out = out,
		.notes = streams->notes,
		.json = {.out = out},
		.is_met = true};
	report.path = recording_name(request->input.path);
	enum tally_status status = TALLY_OK;
	const struct data_input input = report_run_input(request);
	if (streams->opened)
		report.recording.reader = streams->opened;
	else
		status = data_source_open_reader(&input, &report.recording, err);
	if (status == TALLY_OK) {
		report_fields_init(&report.fields, report.recording.reader);
		status = report_run_opened(&report, err);
	}
	profile_filter_deinit(&report.filter);
	replay_result_deinit(&report.result);
	if (status == TALLY_OK && text_flush(out))
		symbol_notes_keep_places(cli, report.recording.store, request->is_verbose);
	data_source_close(&report.recording);
	report_fields_deinit(&report.fields);
	free(report.cpus);
	free(report.parallelism);
	free(report.socket_cpus);
	*is_met = report.is_met;
	return status;
}

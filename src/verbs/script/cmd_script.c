/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/error.h"
#include "base/text_cells.h"
#include "cli/commands.h"
#include "tasks/header/header_text.h"
#include "tasks/reporting/report_replay.h"
#include "tasks/session/pack_damage.h"
#include "tasks/session/recording_input.h"
#include "tasks/session/stack_notes.h"
#include "tasks/session/symbol_notes.h"
#include "verbs/script/script_counts.h"
#include "verbs/script/script_gen.h"
#include "verbs/script/script_installed.h"
#include "verbs/script/script_json.h"
#include "verbs/script/script_python.h"
#include "verbs/script/script_run.h"

static const char *const script_usages[] = {"[<options>]", NULL};
static const char *const script_examples[] = {
	"print every sample of perf.data",
	"tally script",
	"print only what one program did, with nanoseconds",
	"tally script -c myprog --ns",
	NULL,
};

static size_t longest_name(struct perfdata_reader *reader)
{
	size_t count;
	size_t longest = 0;
	const struct perfdata_event *events = perfdata_reader_events(reader, &count);
	for (size_t i = 0; i < count; i++) {
		size_t cells = text_cells(events[i].name);
		longest = MAX(longest, cells);
	}
	return longest;
}

/* Prepares what the selected columns need from the recording. */
static enum tally_status prepare_values(struct script *script, struct tally_error *err)
{
	const struct perfdata_features *features = perfdata_reader_features(script->recording.reader);
	struct script_printer *printer = &script->printer;
	printer->places.arch = features->arch.len > 0 ? arch_find_named(features->arch.data) : NULL;
	printer->clock = script_clock_make(features);
	if (!script_places_init(&printer->places))
		return error_nomem(err);
	size_t count;
	(void)perfdata_reader_events(script->recording.reader, &count);
	uint64_t all = 0;
	for (size_t i = 0; i < count; i++)
		all |= script->fields[i];
	if ((all & FIELD_BRCNTR) && script->counters.width == 0)
		return error_set(err, TALLY_INVALID,
			"-F brcntr: the recording does not say how wide the CPU's branch counters are");
	if (!(all & FIELD_CGROUP))
		return TALLY_OK;
	printer->cgroups = &script->cgroups;
	return cgroup_names_read(&script->cgroups, script->recording.reader, err);
}

/* Returns the SHOWN_* flags of the given --show-*-events options. */
static uint32_t shown_records(const struct script_settings *s)
{
	uint32_t shown = 0;
	shown |= s->show_task ? SHOWN_TASK : 0;
	shown |= s->show_mmap ? SHOWN_MMAP : 0;
	shown |= s->show_switch ? SHOWN_SWITCH : 0;
	shown |= s->show_namespace ? SHOWN_NAMESPACE : 0;
	shown |= s->show_cgroup ? SHOWN_CGROUP : 0;
	shown |= s->show_lost ? SHOWN_LOST : 0;
	shown |= s->show_round ? SHOWN_ROUND : 0;
	shown |= s->show_bpf ? SHOWN_BPF : 0;
	shown |= s->show_text_poke ? SHOWN_TEXT_POKE : 0;
	return shown;
}

/* These options need the whole recording before the first line is printed. */
static bool needs_end(const struct script_settings *s)
{
	return s->filter.samples.times || s->show_round || s->per_event_dump || script_is_dumping(s) ||
	       trace_options_are_given(&s->traces);
}

/* Configures call chains beyond what samples contain: deferred chains, their depth, and stitching of LBR stacks. */
static void prepare_stacks(struct script *script)
{
	const struct script_settings *settings = &script->settings;
	script->recording.pass.resolver.keeps_cookies = settings->keeps_deferred;
	script->recording.pass.resolver.max_stack =
		settings->max_stack > UINT32_MAX ? UINT32_MAX : (unsigned)settings->max_stack;
	if (!settings->stitches)
		return;
	script->stitcher.register_count = report_lbr_registers(script->recording.reader);
	if (script->stitcher.register_count)
		script->recording.pass.resolver.stitcher = &script->stitcher;
	else
		diag_add(&script->field_notes, DIAG_WARNING, REPORT_CANNOT_STITCH);
}

static enum tally_status cmd_script_prepare(
	struct script *script, const struct data_input *input, struct tally_error *err)
{
	const struct script_settings *settings = &script->settings;
	struct data_source *recording = &script->recording;
	enum tally_status status = data_source_read(script->cli, input, recording, err);
	if (status == TALLY_OK)
		status = script_filter_init(&script->filter, &settings->filter, recording->reader, err);
	if (status == TALLY_OK)
		status = script_fields_choose(
			&settings->fields, recording->reader, &script->field_notes, &script->fields, err);
	if (status == TALLY_OK &&
		!script_records_init(&script->records, shown_records(settings), recording->reader, &script->printer))
		status = error_nomem(err);
	if (status != TALLY_OK)
		return status;
	prepare_stacks(script);
	recording->names.bpf_lines = &script->bpf_lines;
	status = bpf_lines_read(&script->bpf_lines, perfdata_reader_features(recording->reader),
		perfdata_reader_is_swapped(recording->reader), err);
	if (status != TALLY_OK)
		return status;
	script->printer = (struct script_printer){
		.places.machine = recording->pass.sideband.machine,
		.places.resolver = &recording->pass.resolver,
		.places.names = &recording->names,
		.fields = script->fields,
		.hide_call_graph = settings->fields.hides_chains,
		.is_narrow = settings->latency,
		.without_frames = settings->max_stack == 0,
		.places.full_kernel_path = settings->show_kernel_path,
		.places.full_source_path = settings->full_source_path,
		.places.no_inline = settings->no_inline,
		.places.stop_symbols = settings->stop_symbols,
		.time_form = settings->ns ? TIME_NSEC : TIME_USEC,
		.is_delta = settings->deltatime,
		.is_relative = settings->reltime,
		.event_name_width = longest_name(recording->reader),
	};
	script_code_init(&script->code, &script->printer.places, recording->store);
	script_source_init(&script->source, &script->printer.places);
	script->printer.path = (struct script_path){
		&script->printer.places, &script->code, &script->source, settings->max_blocks, &script->counters, NULL};
	script_counters_init(&script->counters, recording->reader, settings->verbose > 0);
	status = prepare_values(script, err);
	if (status == TALLY_OK)
		status = script_metrics_init(&script->metrics, recording->reader, err);
	if (status != TALLY_OK)
		return status;
	status = script_dlfilter_open(&script->dlfilter, &settings->dlfilter, err);
	if (status != TALLY_OK)
		return status;
	script->dlfilter.code = &script->code;
	script->dlfilter.filter = &script->filter;
	const char *file_name = recording_name(settings->input.path);
	if (settings->per_event_dump &&
		(status = script_dumps_open(&script->dumps, strcmp(file_name, "-") ? file_name : "pipe",
			 recording->reader, err)) != TALLY_OK)
		return status;
	script->dump = (struct dump_raw){
		.reader = recording->reader,
		.machine = recording->pass.sideband.machine,
		.arch = script->printer.places.arch,
		.file_name = perfdata_reader_is_pipe(recording->reader) ? "pipe" : file_name,
		.in_file_order = settings->dump_unsorted && !settings->show_round,
	};
	script->printer.tracepoints = recording->tracepoints;
	if (script->printer.tracepoints)
		tracepoint_printer_set_symbols(
			script->printer.tracepoints, script_kernel_symbol, &script->printer.places);
	return TALLY_OK;
}

static void script_deinit(struct script *script)
{
	script_places_deinit(&script->printer.places);
	script_code_deinit(&script->code);
	script_source_deinit(&script->source);
	script_dumps_close(&script->dumps);
	script_filter_deinit(&script->filter);
	script_records_deinit(&script->records);
	bpf_lines_deinit(&script->bpf_lines);
	lbr_stitcher_deinit(&script->stitcher);
	data_source_close(&script->recording);
	free(script->fields);
	cgroup_names_deinit(&script->cgroups);
	diag_deinit(&script->field_notes);
	script_metrics_deinit(&script->metrics);
	text_deinit(&script->out);
	script_dlfilter_close(&script->dlfilter);
	vec_free(&script->settings.dlfilter.arguments);
}

static void fetch_lacking(struct script *script)
{
	struct debuginfod_run run = {0};
	struct binary_hits hits = {0};
	struct diag notes;
	diag_init(&notes);
	if (script->settings.debuginfod.is_asked && frame_names_hits(&script->recording.names, &hits, NULL) == TALLY_OK)
		debuginfod_run_start(&run, &script->settings.debuginfod, script->recording.store, &hits, &notes);
	debuginfod_run_end(&run, &notes);
	cli_print_diag(script->cli, &notes);
	diag_deinit(&notes);
	binary_hits_deinit(&hits);
}

static bool shows_others(const struct script_settings *s)
{
	return s->only_checks || script_is_dumping(s) || s->show_task || s->show_mmap || s->show_switch ||
	       s->show_namespace || s->show_cgroup || s->show_lost || s->show_round || s->show_bpf || s->show_text_poke;
}

/* If there are no samples, prints the counts of a recording by stat record, or a note to a user who expects samples. */
static enum tally_status print_no_sample(struct script *script, struct tally_error *err)
{
	const struct script_settings *s = &script->settings;
	if (script->printed != 0 || shows_others(s))
		return TALLY_OK;
	if (!s->is_json && recording_is_of_stat(script->recording.reader)) {
		perfdata_reader_rewind(script->recording.reader);
		return script_counts_print(script->recording.reader, &script->out, err);
	}
	(void)text_flush(&script->out);
	if (s->is_json)
		cli_note_counts(script->cli, script->recording.reader, s->input.path);
	cli_note_empty(script->cli, recording_name(s->input.path), script->recording.pass.sideband.health.samples);
	return TALLY_OK;
}

/* Prints the samples, and messages about them. */
static enum tally_status cmd_script_print_samples(struct script *script, struct tally_error *err)
{
	enum tally_status status = script_dlfilter_start(&script->dlfilter, err);
	if (script->settings.is_json) {
		script->json.out = &script->out;
		script_json_begin(&script->json, recording_name(script->settings.input.path),
			perfdata_reader_features(script->recording.reader));
	}
	if (status == TALLY_OK)
		status = script_print_all(script, err);
	if (script->settings.is_json)
		script_json_end(&script->json, &script->recording.pass.sideband.health);
	struct tally_error other;
	enum tally_status stopped =
		script_dlfilter_stop(&script->dlfilter, &script->out, status == TALLY_OK ? err : &other);
	if (status == TALLY_OK)
		status = stopped;
	enum tally_status finished =
		script_dumps_finish(&script->dumps, &script->out, status == TALLY_OK ? err : &other);
	if (status == TALLY_OK)
		status = finished;
	if (status == TALLY_OK)
		status = print_no_sample(script, err);
	/* Flushed so that messages follow the samples; a write error is reported at the end. */
	(void)text_flush(&script->out);
	cli_print_health(script->cli, &script->recording.pass.sideband.health);
	if (script->settings.only_checks)
		cli_failf(script->cli, "Misordered timestamps: %" PRIu64, script->misordered);
	if (script->code.problem.status != TALLY_OK)
		cli_sayf(
			"%s: warning: instructions are missing: %s\n", script->cli->program, script->code.problem.text);
	stack_notes_print(script->cli, &script->recording.pass.unwinder.ends);
	symbol_notes_print(
		script->cli, script->recording.store, &script->recording.names, script->settings.verbose > 0);
	fetch_lacking(script);
	return status;
}

static int list_dlfilters(const struct cli *cli, const struct script_settings *settings)
{
	struct text out = {0};
	text_to_fd(&out, STDOUT_FILENO);
	script_dlfilter_list(&out, settings->verbose > 0);
	int code = cli_finish_text(cli, &out);
	text_deinit(&out);
	return code;
}

/* Returns the name of an option that cannot be used with --json, or NULL if none is given. */
static const char *without_json(const struct script_settings *s)
{
	const struct {
		bool is_given;
		const char *name;
	} options[] = {{s->fields.is_given, "-F"}, {s->script != NULL, "-s"}, {s->gen_script != NULL, "-g"},
		{s->list || s->list_dlfilters, "--list"}, {s->only_checks, "-d"}, {script_is_dumping(s), "-D"},
		{s->header || s->header_only, "--header"}, {s->per_event_dump, "--per-event-dump"},
		{s->dlfilter.path != NULL, "--dlfilter"}, {s->keeps_deferred, "--no-merge-callchains"},
		{s->reltime || s->deltatime, "--reltime and --deltatime"}, {shows_others(s), "--show-*-events"}};
	for (size_t i = 0; i < ARRAY_LEN(options); i++)
		if (options[i].is_given)
			return options[i].name;
	return NULL;
}

static int cmd_script_run(const struct cli *cli, const struct command *command, int argc, char **argv)
{
	struct script script = {.cli = cli, .settings = {.max_stack = 127}};
	script_fields_init(&script.settings.fields);
	int rest;
	int code = cli_parse_options(cli, command, argc, argv, &script.settings, &rest);
	if (code == CLI_GO_ON && symbol_options_check(cli, &script.settings.symbols) != 0)
		code = EXIT_FAILED;
	if (code != CLI_GO_ON)
		return code;
	if (script.settings.script && script.settings.only_checks)
		return cli_failf(cli, "-d and -s cannot be used together: -d processes no samples");
	if (script.settings.dlfilter.path && (script.settings.script || script.settings.only_checks))
		return cli_failf(cli, "--dlfilter filters what is printed, and so cannot be used with -s or -d");
	if (script.settings.reltime && script.settings.deltatime)
		return cli_failf(cli, "--reltime and --deltatime cannot be used together");
	const char *other = script.settings.is_json ? without_json(&script.settings) : NULL;
	if (other)
		return cli_usagef(cli, command, "json", "--json and %s cannot be used together", other);
	if (script.settings.is_json && rest < argc)
		return cli_usagef(cli, command, "json", "--json runs no script: unexpected argument '%s'", argv[rest]);
	if (script.settings.list_dlfilters)
		return list_dlfilters(cli, &script.settings);
	if (script.settings.script)
		return script_python_run(cli, &script.settings, argv + rest);
	if (script.settings.gen_script)
		return script_gen_run(cli, &script.settings);
	if (script.settings.list)
		return script_installed_list(cli);
	if (rest < argc)
		return script_installed_run(cli, &script.settings, argv + rest);
	if (script.settings.filter.samples.times && !time_spans_are_valid(script.settings.filter.samples.times))
		return cli_failf(cli, "Invalid time string"), EXIT_BAD_TIME;
	struct tally_error err;
	const struct script_settings *settings = &script.settings;
	const struct data_input input = {.file = settings->input,
		.traces = settings->traces,
		.symbols = settings->symbols,
		.is_live = !needs_end(settings),
		.shows_counts = true,
		.shows_origin = settings->is_json};
	if (data_source_open_reader(&input, &script.recording, &err) != TALLY_OK)
		return cli_fail(cli, &err);
	enum tally_status status = settings->header_only ? TALLY_OK : cmd_script_prepare(&script, &input, &err);
	cli_print_diag(cli, &script.field_notes);
	if (status == TALLY_OK) {
		cli_start_pager(cli);
		/* A dlfilter prints to stdout, so the output must pass through the same stream. */
		if (!settings->dlfilter.path)
			text_to_fd(&script.out, STDOUT_FILENO);
		if (settings->header || settings->header_only)
			header_text(&script.out, script.recording.reader, settings->full_info);
		if (!settings->header_only)
			status = cmd_script_print_samples(&script, &err);
		code = cli_finish_text(cli, &script.out);
		symbol_notes_keep_places(cli, script.recording.store, settings->verbose > 0);
	}
	if (status != TALLY_OK)
		code = cli_fail(cli, &err);
	script_deinit(&script);
	return code;
}

const struct command command_script = {
	.name = "script",
	.summary = "Read perf.data (created by perf record) and display trace output",
	.usages = script_usages,
	.options = &script_option_table,
	.description = "Prints every sample in time order: thread, time, event and address, with its call chain or a "
		       "tracepoint's\nfields. Losses and damage are reported on standard error.",
	.examples = script_examples,
	.run = cmd_script_run,
};

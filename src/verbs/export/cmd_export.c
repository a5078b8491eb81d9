/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/error.h"
#include "base/vec.h"
#include "cli/cli.h"
#include "cli/commands.h"
#include "cli/output_file.h"
#include "cli/word_files.h"
#include "tasks/session/recording_input.h"
#include "verbs/export/export_code.h"
#include "verbs/export/export_database.h"
#include "verbs/export/export_run.h"
#include "view/export/export_formats.h"
#include "view/html/report_page.h"

struct cmd_export_settings {
	struct export_settings common;
	VEC(struct export_attribute) resource;
};

struct export_format {
	const char *name;
	/* NULL for SQLite, which writes to a file name. */
	void (*write)(struct byte_sink *sink, const struct export_view *view);
	bool wants_rows; /* The format contains individual samples. */
	bool wants_dated_rows; /* The format contains individual samples if their time of day is known. */
	bool wants_cgroups;
	bool wants_marks; /* The format contains events other than samples, such as forks and lost records. */
	bool wants_switches; /* The format also contains context switches. */
	bool wants_threads; /* The format contains threads. Formats with rows contain them anyway. */
	bool wants_places; /* The format contains addresses and source lines. */
	bool wants_times; /* The format contains the times of the first and last sample, without rows. */
	bool wants_traces; /* The format contains the fields of tracepoints. */
	bool wants_code; /* The format contains the code of hot functions. */
	bool wants_counts; /* The format contains the counts of stat record. */
	bool is_binary;
	bool is_packed; /* The output is compressed with gzip regardless of the file name. */
	bool has_resources; /* The format supports --resource. */
};

static const struct export_format export_formats[] = {
	{.name = "folded", .write = export_folded},
	{.name = "speedscope", .write = export_speedscope, .wants_rows = true, .wants_places = true},
	{.name = "pprof",
		.write = export_pprof,
		.wants_threads = true,
		.wants_places = true,
		.wants_times = true,
		.is_binary = true,
		.is_packed = true},
	{.name = "otlp",
		.write = export_otlp,
		.wants_dated_rows = true,
		.wants_cgroups = true,
		.wants_threads = true,
		.wants_places = true,
		.wants_times = true,
		.is_binary = true,
		.has_resources = true},
	{.name = "otlp-json",
		.write = export_otlp_json,
		.wants_dated_rows = true,
		.wants_cgroups = true,
		.wants_threads = true,
		.wants_places = true,
		.wants_times = true,
		.has_resources = true},
	{.name = "firefox",
		.write = export_firefox,
		.wants_rows = true,
		.wants_marks = true,
		.wants_places = true,
		.wants_traces = true},
	{.name = "callgrind", .write = export_callgrind, .wants_places = true},
	{.name = "chrome", .write = export_chrome, .wants_rows = true, .wants_marks = true, .wants_switches = true},
	{.name = "perfetto",
		.write = export_perfetto,
		.wants_rows = true,
		.wants_marks = true,
		.wants_switches = true,
		.wants_places = true,
		.is_binary = true},
	{.name = "json",
		.write = export_json,
		.wants_rows = true,
		.wants_marks = true,
		.wants_switches = true,
		.wants_places = true,
		.wants_traces = true},
	{.name = "sqlite",
		.wants_rows = true,
		.wants_marks = true,
		.wants_switches = true,
		.wants_places = true,
		.wants_traces = true,
		.is_binary = true},
	{.name = "html",
		.write = report_page_write,
		.wants_rows = true,
		.wants_marks = true,
		.wants_switches = true,
		.wants_traces = true,
		.wants_code = true,
		.wants_counts = true},
	{.name = "csv", .write = export_csv, .wants_rows = true, .wants_places = true},
};
#define FORMAT_NAMES "folded|speedscope|pprof|otlp|otlp-json|firefox|callgrind|chrome|perfetto|json|csv|sqlite|html"

static const char *cmd_export_add_resource(const struct option_use *use)
{
	struct cmd_export_settings *settings = use->settings;
	struct tally_str value = str_from(use->value), key = {0};
	if (!memchr(value.data, '=', value.len) || !str_next(&value, '=', &key) || key.len == 0)
		return "expects KEY=VALUE";
	const struct export_attribute attribute = {EXPORT_EVERY_PROCESS, key, value, EXPORT_EVERY_SET};
	return vec_push(&settings->resource, attribute) ? NULL : "cannot be kept: out of memory";
}

#define ROW(member) .offset = offsetof(struct export_settings, member)

static const struct option export_rows[] = {
	{"format", 'F', OPTION_STRING, FORMAT_NAMES, ROW(format), .help = "what to write"},
	{"output", 'o', OPTION_STRING, "file", ROW(output),
		.help = "output file (default: standard output); compressed with gzip if its name ends in .gz"},
	{"event", 'e', OPTION_STRING, "name", ROW(event),
		.help = "write this event only (default: all; folded: the first that has samples)"},
	{"resource", 0, OPTION_CALL, "key=value", .call = cmd_export_add_resource,
		.help = "otlp, otlp-json: an attribute of every resource, such as service.name=shop (may be repeated)"},
	EXPORT_SELECTION_ROWS,
};
#undef ROW
static const struct option_table export_table = {export_rows, ARRAY_LEN(export_rows), false};

static const struct export_format *format_find(const char *name)
{
	for (size_t i = 0; i < ARRAY_LEN(export_formats); i++)
		if (strcmp(export_formats[i].name, name) == 0)
			return &export_formats[i];
	return NULL;
}

static int refuse_format(const struct cli *cli, const struct command *command, const char *name)
{
	const char *names[ARRAY_LEN(export_formats)];
	for (size_t i = 0; i < ARRAY_LEN(export_formats); i++)
		names[i] = export_formats[i].name;
	size_t nearest = text_nearest(names, ARRAY_LEN(export_formats), name);
	if (nearest == SIZE_MAX)
		return cli_usagef(cli, command, "format", "no format '%s'", name);
	return cli_usagef(cli, command, "format", "no format '%s'\n  Did you mean `%s'?", name, names[nearest]);
}

static bool ends_in_gz(const char *path)
{
	size_t len = path ? strlen(path) : 0;
	return len > 3 && strcmp(path + len - 3, ".gz") == 0;
}

static int cmd_export_write_file(const struct cli *cli, const struct export_settings *s,
	const struct export_format *format, const struct export_view *view)
{
	struct tally_error err;
	struct byte_sink sink;
	struct output_file file;
	if (output_file_open(s->output, s->input.path, &file, &err) != TALLY_OK)
		return cli_fail(cli, &err);
	enum tally_status status;
	if (format->write) {
		byte_sink_init(&sink, file.fd, format->is_packed || ends_in_gz(s->output));
		format->write(&sink, view);
		status = byte_sink_finish(&sink, output_file_is_stdout(&file) ? "standard output" : s->output, &err);
	} else {
		status = export_database_write(output_file_name(&file, s->output), view, &err);
	}
	status = output_file_finish(&file, status, &err);
	return status == TALLY_OK ? 0 : cli_fail(cli, &err);
}

/* Writes the file. An empty result is an error if the format contains only samples, because other formats may
 * contain other events. */
static int write_what_there_is(const struct cli *cli, const struct export_settings *s,
	const struct export_format *format, const struct export_run *run)
{
	struct tally_error err;
	uint64_t samples = run->result.health.samples;
	bool is_empty = export_is_empty(&run->view);
	int code = cmd_export_write_file(cli, s, format, &run->view);
	if (is_empty && code == 0)
		cli_note_counts(cli, run->source.reader, s->input.path);
	if (is_empty && code == 0 && !format->wants_marks)
		return recording_is_empty(s->input.path, samples, &err), cli_fail(cli, &err);
	if (is_empty && code == 0 && !run->has_counts)
		cli_note_empty(cli, s->input.path, samples);
	return code;
}

static int export_file(
	const struct cli *cli, const struct cmd_export_settings *settings, const struct export_format *format)
{
	const struct export_settings *s = &settings->common;
	struct export_run run;
	struct tally_error err;
	const struct export_wishes wishes = {.rows = format->wants_rows,
		.marks = format->wants_marks,
		.switches = format->wants_switches,
		.dated_rows = format->wants_dated_rows,
		.cgroups = format->wants_cgroups,
		.threads = format->wants_rows || format->wants_threads,
		.places = format->wants_places,
		.times = format->wants_times,
		.traces = format->wants_traces,
		.code = format->wants_code,
		.counts = format->wants_counts};
	enum tally_status status = export_run_open(cli, s, &wishes, &run, &err);
	struct export_code listings = {0};
	int code = EXIT_FAILED;
	run.view.attributes = settings->resource.items;
	run.view.attribute_count = settings->resource.len;
	if (run.is_ready && format->wants_code) {
		struct tally_error code_error;
		enum tally_status made = export_code_make(&listings, &run, &code_error);
		if (made != TALLY_OK && status == TALLY_OK) {
			status = made;
			err = code_error;
		}
		run.view.code = (struct tally_str){listings.listings.data, listings.listings.len};
		run.view.listing_of_function = listings.listing_of_function;
	}
	if (run.is_ready)
		code = write_what_there_is(cli, s, format, &run);
	if (status != TALLY_OK)
		code = cli_fail(cli, &err);
	export_run_close(&run);
	export_code_deinit(&listings);
	return code;
}

/* Returns CLI_GO_ON if the options can be used together, else an exit code after a message. */
static int cmd_export_check(const struct cli *cli, const struct command *command, struct cmd_export_settings *settings,
	const struct export_format *format)
{
	struct export_settings *s = &settings->common;
	if (s->samples.times && !time_spans_are_valid(s->samples.times))
		return cli_failf(cli, "Invalid time string"), EXIT_BAD_TIME;
	if (s->max_stack > UINT32_MAX)
		return cli_usagef(cli, command, "max-stack", "--max-stack is too large");
	if (settings->resource.len > 0 && !format->has_resources)
		return cli_usagef(cli, command, "resource",
			"the format %s has no resources: --resource is for otlp and otlp-json", format->name);
	if (format->is_binary && !s->output && isatty(STDOUT_FILENO))
		return cli_usagef(cli, command, "output",
			"the format %s is binary: name a file with -o, or redirect standard output", format->name);
	if (!format->write && (!s->output || strcmp(s->output, "-") == 0))
		return cli_usagef(cli, command, "output", "a database is written to a file: name it with -o");
	return CLI_GO_ON;
}

static int cmd_export_go(const struct cli *cli, const struct command *command, struct cmd_export_settings *settings,
	int argc, char **argv)
{
	struct export_settings *s = &settings->common;
	int rest;
	int code = cli_parse_options(cli, command, argc, argv, settings, &rest);
	if (code != CLI_GO_ON)
		return code;
	if (!s->format)
		return cli_usagef(cli, command, "format", "export needs a format: use --format");
	const struct export_format *format = format_find(s->format);
	if (!format)
		return refuse_format(cli, command, s->format);
	if (rest + 1 < argc)
		return cli_usagef(
			cli, command, NULL, "unexpected argument '%s': export takes one recording", argv[rest + 1]);
	if (rest < argc && s->input.path)
		return cli_usagef(cli, command, "input", "the recording is named twice: with -i and as an argument");
	s->input.path = rest < argc ? argv[rest] : recording_name(s->input.path);
	code = cmd_export_check(cli, command, settings, format);
	if (code != CLI_GO_ON)
		return code;
	struct word_files files = {0};
	struct tally_error err;
	if (word_files_read_filters(&files, &s->samples.filters, &err) == TALLY_OK)
		code = export_file(cli, settings, format);
	else
		code = cli_fail(cli, &err);
	word_files_deinit(&files);
	return code;
}

static int cmd_export_run(const struct cli *cli, const struct command *command, int argc, char **argv)
{
	struct cmd_export_settings settings = {0};
	int code = cmd_export_go(cli, command, &settings, argc, argv);
	vec_free(&settings.resource);
	return code;
}

static const char *const export_usages[] = {"--format <format> [<options>] [<file>]", NULL};
static const char *const export_examples[] = {
	"for go tool pprof, Grafana Pyroscope, Polar Signals",
	"tally export --format pprof -o profile.pb.gz",
	"for an OpenTelemetry collector's endpoint /v1development/profiles",
	"tally export -F otlp --resource service.name=shop -o profile.otlp",
	"for speedscope.app, one thread",
	"tally export -F speedscope --tid 4242 -o profile.speedscope.json",
	"of a recording that comes through a pipe",
	"tally export -F folded -i - | inferno-flamegraph > profile.svg",
	NULL,
};

const struct command command_export = {
	.name = "export",
	.summary = "Write a recording in the formats of other viewers",
	.usages = export_usages,
	.options = &export_table,
	.description =
		"Writes the samples of a recording for another program. docs/exports.md describes what each "
		"format holds and which programs read it.\n\nBytes in names that are not UTF-8 become U+FFFD if the "
		"format requires UTF-8.",
	.examples = export_examples,
	.run = cmd_export_run,
};

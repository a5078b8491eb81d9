/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "abi/event_name.h"
#include "analysis/tracepoint_fields.h"
#include "base/array.h"
#include "base/json.h"
#include "base/text.h"
#include "cli/cli.h"
#include "cli/commands.h"
#include "perfdata/origin.h"
#include "tasks/session/recording_input.h"

#define EVLIST_SCHEMA 1

struct cmd_evlist_settings {
	struct input_options input;
	bool freq, group, trace_fields, json;
	unsigned verbose;
};

static const struct option evlist_options[] = {
	INPUT_OPTIONS(struct cmd_evlist_settings, input),
	{.name = "freq",
		.letter = 'F',
		.kind = OPTION_FLAG,
		.offset = offsetof(struct cmd_evlist_settings, freq),
		.help = "Show the sample frequency"},
	{.name = "verbose",
		.letter = 'v',
		.kind = OPTION_COUNT,
		.offset = offsetof(struct cmd_evlist_settings, verbose),
		.help = "Show all event attr details"},
	{.name = "group",
		.letter = 'g',
		.kind = OPTION_FLAG,
		.offset = offsetof(struct cmd_evlist_settings, group),
		.help = "Show event group information"},
	{.name = "json",
		.kind = OPTION_FLAG,
		.offset = offsetof(struct cmd_evlist_settings, json),
		.help = "Print JSON with all details (docs/schema/evlist.json)"},
	{.name = "trace-fields",
		.kind = OPTION_FLAG,
		.offset = offsetof(struct cmd_evlist_settings, trace_fields),
		.help = "Show tracepoint fields"},
};
static const struct option_table evlist_table = {evlist_options, ARRAY_LEN(evlist_options), false};
static const char *const evlist_usages[] = {"[<options>]", NULL};
static const char *const evlist_examples[] = {
	"which events a recording has, and how they were set up", "tally evlist -v -i perf.data", NULL};

struct cmd_evlist_listing {
	const char *program;
	struct text *text;
	const struct cmd_evlist_settings *settings;
	bool is_pipe;
	const struct perfdata_features *features;
	struct tracepoint_printer *tracepoints; /* NULL if the recording has no formats of tracepoints. */
};

static bool has_same_word(struct tally_str a, struct tally_str b)
{
	struct tally_str word_a;
	struct tally_str word_b;
	return str_next(&a, ':', &word_a) && str_next(&b, ':', &word_b) && str_equal(word_a, word_b);
}

/* For a pipe, perf derives event names from the attrs. So does this function, unless the stream gives the event
 * another name. */
static void print_name(const struct cmd_evlist_listing *listing, const struct perfdata_event *event)
{
	struct text made = {0};
	if (listing->is_pipe)
		event_name_of_attr(&made, &event->attr);
	struct tally_str from_attr = {made.data, made.len};
	struct tally_str name = made.len > 0 && has_same_word(from_attr, event->name) ? from_attr : event->name;
	text_bytes(listing->text, name.data, name.len);
	text_deinit(&made);
}

static void print_trace_fields(const struct cmd_evlist_listing *listing, const struct perf_attr *attr, bool is_first)
{
	struct text *t = listing->text;
	if (attr->type != EVENT_TRACEPOINT) {
		text_str(t, is_first ? ": (not a tracepoint)" : ", (not a tracepoint)");
		return;
	}
	text_str(t, is_first ? ": trace_fields: " : ", trace_fields: ");
	if (!listing->tracepoints || !tracepoint_field_names(listing->tracepoints, attr->config, t))
		text_str(t, "(not described)");
}

static void cmd_evlist_print_event(const struct cmd_evlist_listing *listing, const struct perfdata_event *event)
{
	struct text *t = listing->text;
	const struct cmd_evlist_settings *settings = listing->settings;
	bool has_details = settings->verbose > 0 || settings->freq;
	print_name(listing, event);
	if (settings->verbose > 0) {
		text_str(t, ": ");
		attr_print(t, &event->attr);
	} else if (settings->freq) {
		text_str(t, ATTR_HAS(&event->attr, FREQ) ? ": sample_freq=" : ": sample_period=");
		text_u64(t, event->attr.sample_period_or_freq);
	}
	if (settings->trace_fields && !settings->group)
		print_trace_fields(listing, &event->attr, !has_details);
	text_char(t, '\n');
}

static void cmd_evlist_print_group(
	const struct cmd_evlist_listing *listing, const struct perfdata_event *events, size_t leader)
{
	text_char(listing->text, '{');
	for (size_t i = leader; i < leader + events[leader].member_count; i++) {
		if (i > leader)
			text_char(listing->text, ',');
		print_name(listing, &events[i]);
	}
	text_str(listing->text, "}\n");
}

static void cmd_evlist_print_events(
	const struct cmd_evlist_listing *listing, const struct perfdata_event *events, size_t count)
{
	bool groups = listing->settings->group;
	bool has_tracepoint = false;
	for (size_t i = 0; i < count; i++) {
		has_tracepoint = has_tracepoint || events[i].attr.type == EVENT_TRACEPOINT;
		if (groups && events[i].leader_index != i)
			continue;
		if (groups && events[i].member_count > 1)
			cmd_evlist_print_group(listing, events, i);
		else
			cmd_evlist_print_event(listing, &events[i]);
	}
	if (listing->settings->verbose > 0)
		origin_comment(listing->text, listing->features);
	if (has_tracepoint && !listing->settings->trace_fields)
		text_printf(listing->text,
			"# Tip: use '%s evlist --trace-fields' to show fields for tracepoint events\n",
			listing->program);
}

static void cmd_evlist_put_json_event(
	struct json *j, const struct cmd_evlist_listing *listing, const struct perfdata_event *event)
{
	struct text name = {0}, attr = {0}, fields = {0};
	struct cmd_evlist_listing named = *listing;
	named.text = &name;
	print_name(&named, event);
	attr_print(&attr, &event->attr);
	json_object(j, NULL);
	json_string(j, "name", text_view(&name));
	json_u64(j, "type", event->attr.type);
	json_hex(j, "config", event->attr.config);
	json_u64(j, ATTR_HAS(&event->attr, FREQ) ? "sample_freq" : "sample_period", event->attr.sample_period_or_freq);
	json_u64(j, "leader", event->leader_index);
	json_string(j, "attr", text_view(&attr));
	if (listing->tracepoints && event->attr.type == EVENT_TRACEPOINT &&
		tracepoint_field_names(listing->tracepoints, event->attr.config, &fields))
		json_string(j, "trace_fields", text_view(&fields));
	json_object_end(j);
	j->out->failed |= name.failed || attr.failed || fields.failed;
	text_deinit(&name);
	text_deinit(&attr);
	text_deinit(&fields);
}

static void cmd_evlist_put_json(
	const struct cmd_evlist_listing *listing, const struct perfdata_event *events, size_t count)
{
	struct json j = {.out = listing->text};
	json_object(&j, NULL);
	json_u64(&j, "schema", EVLIST_SCHEMA);
	json_string(&j, "path", str_from(recording_name(listing->settings->input.path)));
	origin_json(&j, listing->features);
	json_array(&j, "events");
	for (size_t i = 0; i < count; i++)
		cmd_evlist_put_json_event(&j, listing, &events[i]);
	json_array_end(&j);
	json_object_end(&j);
	text_char(listing->text, '\n');
}

static int cmd_evlist_show(
	const struct cli *cli, const struct perfdata_reader *reader, const struct cmd_evlist_settings *settings)
{
	size_t count;
	struct tally_error err;
	const struct perfdata_event *events = perfdata_reader_events(reader, &count);
	const struct perfdata_features *features = perfdata_reader_features(reader);
	struct text t = {0};
	struct cmd_evlist_listing listing = {.program = cli->program,
		.text = &t,
		.settings = settings,
		.is_pipe = perfdata_reader_is_pipe(reader),
		.features = features};
	if ((settings->trace_fields || settings->json) && features->tracing_data.len > 0 &&
		tracepoint_printer_create(features->tracing_data, &listing.tracepoints, &err) != TALLY_OK)
		return cli_fail(cli, &err);
	(settings->json ? cmd_evlist_put_json : cmd_evlist_print_events)(&listing, events, count);
	tracepoint_printer_destroy(listing.tracepoints);
	return cli_finish_text(cli, &t);
}

static int cmd_evlist_run(const struct cli *cli, const struct command *command, int argc, char **argv)
{
	struct cmd_evlist_settings settings = {0};
	int rest;
	int code = cli_parse_options(cli, command, argc, argv, &settings, &rest);
	if (code != CLI_GO_ON)
		return code;
	if (rest < argc)
		return cli_usagef(cli, command, NULL, "unexpected argument '%s'", argv[rest]);
	if (settings.json && (settings.group || settings.freq || settings.trace_fields || settings.verbose > 0))
		return cli_usagef(
			cli, command, "json", "--json has all details: leave -F, -g, -v and --trace-fields out");
	if (settings.group && (settings.verbose > 0 || settings.freq))
		return cli_failf(cli, "--group option is not compatible with other options"), EXIT_USAGE;
	struct tally_error err;
	struct perfdata_reader *reader;
	if (recording_open(&settings.input, &reader, &err) != TALLY_OK)
		return cli_fail(cli, &err);
	/* The events of a pipe are known only after it has been read. */
	enum tally_status status = TALLY_OK;
	struct record record;
	while (perfdata_reader_is_pipe(reader) && (status = perfdata_reader_next(reader, &record, &err)) == TALLY_OK)
		;
	code = cmd_evlist_show(cli, reader, &settings);
	perfdata_reader_destroy(reader);
	return status == TALLY_OK || status == TALLY_END ? code : cli_fail(cli, &err);
}

const struct command command_evlist = {
	.name = "evlist",
	.summary = "List the event names in a perf.data file",
	.usages = evlist_usages,
	.options = &evlist_table,
	.description = "Lists the events that a recording holds. With -v, every field of their attributes that is set.",
	.examples = evlist_examples,
	.run = cmd_evlist_run,
};

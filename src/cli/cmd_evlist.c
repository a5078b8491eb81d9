#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "cli/cli.h"
#include "cli/commands.h"
#include "cli/recording_input.h"

struct settings {
	const char *input;
	bool freq, group, force, trace_fields;
	unsigned verbose;
};

static const struct option options[] = {
	{.name = "input",
		.letter = 'i',
		.kind = OPTION_STRING,
		.argument = "file",
		.offset = offsetof(struct settings, input),
		.help = "Input file name"},
	{.name = "freq",
		.letter = 'F',
		.kind = OPTION_FLAG,
		.offset = offsetof(struct settings, freq),
		.help = "Show the sample frequency"},
	{.name = "verbose",
		.letter = 'v',
		.kind = OPTION_COUNT,
		.offset = offsetof(struct settings, verbose),
		.help = "Show all event attr details"},
	{.name = "group",
		.letter = 'g',
		.kind = OPTION_FLAG,
		.offset = offsetof(struct settings, group),
		.help = "Show event group information"},
	{.name = "force",
		.letter = 'f',
		.kind = OPTION_FLAG,
		.offset = offsetof(struct settings, force),
		.help = "don't complain, do it"},
	{.name = "trace-fields", .kind = OPTION_UNSUPPORTED, .help = "Show tracepoint fields"},
};
static const struct option_table table = {options, sizeof(options) / sizeof(options[0]), false};
static const char *const usages[] = {"[<options>]", NULL};
static const char *const examples[] = {
	"which events a recording has, and how they were set up", "tally evlist -v -i perf.data", NULL};

static void print_event(struct text *t, const struct perfdata_event *event, const struct settings *settings)
{
	text_bytes(t, event->name.data, event->name.len);
	if (settings->verbose > 0) {
		text_str(t, ": ");
		attr_print(t, &event->attr);
	} else if (settings->freq) {
		if (ATTR_HAS(&event->attr, FREQ))
			text_printf(t, ": sample_freq=%llu", (unsigned long long)event->attr.sample_period_or_freq);
		else
			text_printf(t, ": sample_period=%llu", (unsigned long long)event->attr.sample_period_or_freq);
	}
	text_char(t, '\n');
}

static void print_group(struct text *t, const struct perfdata_event *events, size_t leader)
{
	text_char(t, '{');
	for (size_t i = leader; i < leader + events[leader].member_count; i++) {
		if (i > leader)
			text_char(t, ',');
		text_bytes(t, events[i].name.data, events[i].name.len);
	}
	text_str(t, "}\n");
}

static void print_events(struct text *t, const struct perfdata_reader *reader, const struct settings *settings)
{
	size_t count;
	const struct perfdata_event *events = perfdata_reader_events(reader, &count);
	bool has_tracepoint = false;
	for (size_t i = 0; i < count; i++) {
		has_tracepoint = has_tracepoint || events[i].attr.type == EVENT_TRACEPOINT;
		if (settings->group && events[i].leader_index != i)
			continue;
		if (settings->group && events[i].member_count > 1)
			print_group(t, events, i);
		else
			print_event(t, &events[i], settings);
	}
	if (has_tracepoint && !settings->trace_fields)
		text_str(t, "# Tip: use 'perf evlist --trace-fields' to show fields for tracepoint events\n");
}

static int run(const struct cli *cli, const struct command *command, int argc, char **argv)
{
	struct settings settings = {0};
	int rest;
	int code = cli_parse_options(cli, command, argc, argv, &settings, &rest);
	if (code != CLI_GO_ON)
		return code;
	if (rest < argc)
		return cli_usagef(cli, command, NULL, "evlist takes options only, not '%s'", argv[rest]);
	if (settings.group && (settings.verbose > 0 || settings.freq))
		return cli_failf(cli, "--group option is not compatible with other options"), EXIT_USAGE;
	struct tally_error err;
	struct perfdata_reader *reader;
	if (cli_open_recording(cli, settings.input, &reader, &err) != TALLY_OK)
		return cli_fail(cli, &err);
	/* A pipe says what its events are on the way. */
	enum tally_status status = TALLY_OK;
	struct record record;
	while (perfdata_reader_is_pipe(reader) && (status = perfdata_reader_next(reader, &record, &err)) == TALLY_OK)
		;
	struct text t = {0};
	print_events(&t, reader, &settings);
	code = cli_finish_text(cli, &t);
	perfdata_reader_destroy(reader);
	return status == TALLY_OK || status == TALLY_END ? code : cli_fail(cli, &err);
}

const struct command command_evlist = {
	.name = "evlist",
	.summary = "List the event names in a perf.data file",
	.usages = usages,
	.options = &table,
	.description = "Lists the events that a recording holds. With -v, every field of their attributes that is set.",
	.examples = examples,
	.run = run,
};

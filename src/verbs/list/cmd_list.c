/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/error.h"
#include "base/json.h"
#include "cli/cli.h"
#include "cli/commands.h"
#include "cli/output_file.h"
#include "kernel/events/event_listing.h"
#include "kernel/events/tracepoints.h"
#include "verbs/list/list_metrics.h"
#include "verbs/list/list_sdt.h"

#define LIST_NAME_WIDTH 50
/* Opening a tracepoint makes the kernel patch its code, so the tracepoints of longer lists are not tried. */
#define TRACEPOINTS_TRIED_MAX 64

struct cmd_list_settings {
	bool desc, no_desc, details, json, raw_dump, all, deprecated;
	unsigned long_desc;
	const char *output, *unit;
};

#define ROW(field) .offset = offsetof(struct cmd_list_settings, field)
static const struct option list_options[] = {
	{.name = "all",
		.letter = 'a',
		.kind = OPTION_FLAG,
		ROW(all),
		.help = "show also events that do not open here, and why"},
	{.name = "cputype",
		.kind = OPTION_UNSUPPORTED,
		.argument = "hybrid cpu type",
		.help = "events of this type of core (e.g. core or atom)"},
	{.name = "debug", .kind = OPTION_UNSUPPORTED, .help = "show how names are parsed"},
	{.name = "deprecated",
		.kind = OPTION_FLAG,
		ROW(deprecated),
		.help = "show deprecated events too (no listed event is deprecated)"},
	{.name = "desc", .letter = 'd', .kind = OPTION_FLAG, ROW(desc), .help = "show what each event counts"},
	{.name = "no-desc", .kind = OPTION_FLAG, ROW(no_desc), .help = "names only, also with -v"},
	{.name = "details",
		.kind = OPTION_FLAG,
		ROW(details),
		.help = "show the event's attributes, and whether it opens here"},
	{.name = "json", .letter = 'j', .kind = OPTION_FLAG, ROW(json), .help = "print everything as JSON"},
	{.name = "long-desc",
		.letter = 'v',
		.kind = OPTION_COUNT,
		ROW(long_desc),
		.help = "show what each event counts, and the fields of tracepoints"},
	{.name = "output",
		.letter = 'o',
		.kind = OPTION_STRING,
		.argument = "file",
		ROW(output),
		.help = "write to this file"},
	{.name = "raw-dump",
		.kind = OPTION_FLAG,
		ROW(raw_dump),
		.help = "print names alone on one line, for completion"},
	{.name = "unit",
		.kind = OPTION_STRING,
		.argument = "PMU name",
		ROW(unit),
		.help = "show events of this PMU only"},
};
#undef ROW
static const struct option_table list_table = {list_options, ARRAY_LEN(list_options), false};
static const char *const list_usages[] = {
	"[<options>] [hw|sw|cache|tracepoint|pmu|sdt|pfm|metric|metricgroup|event_glob]", NULL};
static const char *const list_examples[] = {"the scheduler's tracepoints", "tally list 'sched:*'",
	"list the hardware events that this machine refuses, and why", "tally list --all --details hw cache",
	"print everything, for a program", "tally list --json", NULL};

struct category {
	const char *name, *other_name;
	unsigned kinds;
};
static const struct category categories[] = {
	{"hw", "hardware", 1u << LISTED_HARDWARE},
	{"sw", "software", 1u << LISTED_SOFTWARE | 1u << LISTED_TOOL},
	{"cache", "hwcache", 1u << LISTED_CACHE},
	{"pmu", "pmus", 1u << LISTED_PMU},
	{"tracepoint", "tracepoints", 1u << LISTED_TRACEPOINT},
	{"breakpoint", "mem", 1u << LISTED_SYNTAX_BREAKPOINT},
	{"raw", "rNNN", 1u << LISTED_SYNTAX_RAW},
	{"pfm", "libpfm4", 1u << LISTED_VENDOR},
};

static const char *const type_names[LISTED_KINDS] = {
	[LISTED_HARDWARE] = "Hardware event",
	[LISTED_SOFTWARE] = "Software event",
	[LISTED_TOOL] = "Tool event",
	[LISTED_CACHE] = "Hardware cache event",
	[LISTED_PMU] = "Kernel PMU event",
	[LISTED_SYNTAX_RAW] = "Raw hardware event descriptor",
	[LISTED_SYNTAX_BREAKPOINT] = "Hardware breakpoint",
	[LISTED_TRACEPOINT] = "Tracepoint event",
	[LISTED_VENDOR] = "Vendor event for --pfm-events",
	[LISTED_SDT] = "SDT event",
};

struct cmd_list_list {
	const struct cmd_list_settings *settings;
	struct event_catalogue *catalogue;
	struct event_listing listing;
	struct text out;
	struct json json;
	bool has_printed, tries_tracepoints;
	struct list_metrics metrics;
	bool wants_metrics, wants_groups, wants_vendors, wants_sdt;
	const char *build_id_dir; /* NULL for the default directory. */
	size_t left_out; /* Number of generic events that cannot be opened here. */
	char why_left_out[480];
};

static bool cmd_list_is_generic(const struct listed_event *event)
{
	return event->kind == LISTED_HARDWARE || event->kind == LISTED_SOFTWARE || event->kind == LISTED_CACHE;
}

static bool is_syntax(const struct listed_event *event)
{
	return event->kind == LISTED_SYNTAX_RAW || event->kind == LISTED_SYNTAX_BREAKPOINT;
}

static bool has_descriptions(const struct cmd_list_settings *settings)
{
	return !settings->no_desc && (settings->desc || settings->long_desc > 0);
}

/* Returns the kernel's format file of a tracepoint, allocated with malloc, or NULL if it cannot be read. */
static char *tracepoint_format(const struct cmd_list_list *list, const struct listed_event *event)
{
	const struct kernel_seam *kernel = list->catalogue->kernel;
	const char *colon = strchr(event->name, ':');
	char *text;
	if (!colon || kernel_text(kernel, &text, NULL, "%s/events/%.*s/%s/format", tracefs_directory(kernel),
			      (int)(colon - event->name), event->name, colon + 1) != TALLY_OK)
		return NULL;
	return text;
}

static void cmd_list_print_format(struct cmd_list_list *list, const struct listed_event *event)
{
	char *text = tracepoint_format(list, event);
	struct tally_str rest = str_from(text ? text : ""), line;
	while (str_next(&rest, '\n', &line)) {
		line = str_trim(line);
		if (line.len > 0) {
			text_repeat(&list->out, ' ', 7);
			text_bytes(&list->out, line.data, line.len);
			text_char(&list->out, '\n');
		}
	}
	free(text);
}

static void cmd_list_print_text(
	struct cmd_list_list *list, const struct listed_event *event, const struct event_opening *opening)
{
	struct text *t = &list->out;
	size_t start = t->len;
	text_printf(t, "  %s%s%s", event->name, event->alias ? " OR " : "", event->alias ? event->alias : "");
	text_align_from(t, start, -(2 + LIST_NAME_WIDTH));
	text_printf(t, " [%s]\n", type_names[event->kind]);
	if (has_descriptions(list->settings) && event->description)
		text_printf(t, "       [%s]\n", event->description);
	if (has_descriptions(list->settings) && list->settings->long_desc > 0 && event->kind == LISTED_TRACEPOINT)
		cmd_list_print_format(list, event);
	if (list->settings->details && event->terms)
		text_printf(t, "        %s/%s/\n", event->pmu, event->terms);
	else if (list->settings->details && opening->encoding.len > 0) {
		text_repeat(t, ' ', 8);
		text_bytes(t, opening->encoding.data, opening->encoding.len);
		text_char(t, '\n');
	}
	if (!opening->opens) {
		text_str(t, "        does not open here: ");
		text_bytes(t, opening->reason.data, opening->reason.len);
		text_char(t, '\n');
	} else if (list->settings->details && !is_syntax(event)) {
		text_str(t, opening->was_tried || event->kind == LISTED_TOOL ? "        opens here\n"
									     : "        not tried here\n");
	}
}

static void cmd_list_print_json(
	struct cmd_list_list *list, const struct listed_event *event, const struct event_opening *opening)
{
	struct json *j = &list->json;
	static const char *const units[LISTED_KINDS] = {[LISTED_HARDWARE] = "hardware",
		[LISTED_SOFTWARE] = "software",
		[LISTED_TOOL] = "tool",
		[LISTED_CACHE] = "hw-cache",
		[LISTED_TRACEPOINT] = "tracepoint"};
	json_object(j, NULL);
	if (event->pmu || units[event->kind])
		json_string(j, "Unit", str_from(event->pmu ? event->pmu : units[event->kind]));
	json_string(j, "EventName", str_from(event->name));
	if (event->alias)
		json_string(j, "EventAlias", str_from(event->alias));
	json_string(j, "EventType", str_from(type_names[event->kind]));
	if (event->description)
		json_string(j, "BriefDescription", str_from(event->description));
	char *format = event->kind == LISTED_TRACEPOINT ? tracepoint_format(list, event) : NULL;
	if (format)
		json_string(j, "PublicDescription", str_from(format));
	free(format);
	if (event->unit) {
		struct text scaled = {0};
		text_printf(&scaled, "%.17g%s", event->scale, event->unit);
		json_string(j, "ScaleUnit", text_view(&scaled));
		text_deinit(&scaled);
	}
	if (opening->encoding.len > 0)
		json_string(j, "Encoding", text_view(&opening->encoding));
	if (!opening->opens || opening->was_tried)
		json_bool(j, "Opens", opening->opens);
	if (!opening->opens)
		json_string(j, "WhyNot", text_view(&opening->reason));
	json_object_end(j);
}

static enum tally_status cmd_list_print_event(
	struct cmd_list_list *list, const struct listed_event *event, struct tally_error *err)
{
	const struct cmd_list_settings *settings = list->settings;
	struct event_opening opening;
	bool wants_more = settings->details || settings->json || settings->all;
	bool by_opening = event->kind == LISTED_TRACEPOINT ? wants_more && list->tries_tracepoints
							   : wants_more || cmd_list_is_generic(event);
	if (settings->unit && (!event->pmu || strcmp(settings->unit, event->pmu) != 0))
		return TALLY_OK;
	if (!by_opening && !wants_more)
		opening = (struct event_opening){.opens = true};
	else if (event_opening_try(&list->listing, event, by_opening, &opening, err) != TALLY_OK)
		return TALLY_NOMEM;
	if (!opening.opens && cmd_list_is_generic(event) && !settings->all && !settings->json) {
		/* Like perf, plain lists omit events that cannot be opened. A note reports how many were omitted. */
		if (list->left_out++ == 0)
			snprintf(list->why_left_out, sizeof(list->why_left_out), "%.*s", (int)opening.reason.len,
				opening.reason.data);
	} else if (settings->raw_dump) {
		if (!is_syntax(event))
			text_printf(&list->out, "%s%s", list->has_printed ? " " : "", event->name);
		list->has_printed |= !is_syntax(event);
	} else if (settings->json) {
		cmd_list_print_json(list, event, &opening);
	} else {
		cmd_list_print_text(list, event, &opening);
	}
	event_opening_deinit(&opening);
	return text_line_end(&list->out) ? TALLY_OK : TALLY_END;
}

/* -e does not accept vendor event names, so they are no completions. */
static unsigned kinds_of_all(const struct cmd_list_list *list)
{
	return list->settings->raw_dump ? LISTED_ALL & ~(1u << LISTED_VENDOR) : LISTED_ALL;
}

static enum tally_status cmd_list_add_word(struct cmd_list_list *list, const char *word, struct tally_error *err)
{
	struct event_listing *listing = &list->listing;
	list->wants_vendors |= strcmp(word, "pfm") == 0 || strcmp(word, "libpfm4") == 0;
	for (size_t i = 0; i < ARRAY_LEN(categories); i++)
		if (strcmp(word, categories[i].name) == 0 || strcmp(word, categories[i].other_name) == 0)
			return event_listing_add(listing, categories[i].kinds, "*", err);
	if (strcmp(word, "metric") == 0 || strcmp(word, "metrics") == 0) {
		list->wants_metrics = true;
		list_metrics_want(&list->metrics, "*");
		return TALLY_OK;
	}
	if (strcmp(word, "metricgroup") == 0 || strcmp(word, "metricgroups") == 0) {
		list->wants_groups = true;
		return TALLY_OK;
	}
	if (strcmp(word, "sdt") == 0) {
		list->wants_sdt = true;
		return list_sdt_add(listing, list->build_id_dir, "*", err);
	}
	if (strchr(word, ':')) {
		enum tally_status status = event_listing_add(listing, 1u << LISTED_TRACEPOINT, word, err);
		return status == TALLY_OK ? list_sdt_add(listing, list->build_id_dir, word, err) : status;
	}
	struct text pattern = {0};
	text_printf(&pattern, "*%s*", word);
	text_char(&pattern, '\0');
	enum tally_status status =
		pattern.failed
			? error_nomem(err)
			: event_listing_add(listing,
				  kinds_of_all(list) & ~(1u << LISTED_SYNTAX_RAW | 1u << LISTED_SYNTAX_BREAKPOINT),
				  pattern.data, err);
	if (status == TALLY_OK)
		status = list_sdt_add(listing, list->build_id_dir, pattern.data, err);
	if (!pattern.failed)
		list_metrics_want(&list->metrics, pattern.data);
	text_deinit(&pattern);
	return status;
}

static enum tally_status cmd_list_gather(struct cmd_list_list *list, int count, char **words, struct tally_error *err)
{
	enum tally_status status = TALLY_OK;
	if (count == 0) {
		list->wants_groups = !list->settings->unit && !list->settings->raw_dump;
		if (list->settings->json && !list->settings->unit)
			list_metrics_want(&list->metrics, "*");
		status = event_listing_add(&list->listing, kinds_of_all(list), "*", err);
		if (status == TALLY_OK)
			status = list_sdt_add(&list->listing, list->build_id_dir, "*", err);
	}
	for (int i = 0; i < count && status == TALLY_OK; i++)
		status = cmd_list_add_word(list, words[i], err);
	size_t tracepoints = 0;
	for (size_t i = 0; i < list->listing.events.len; i++)
		tracepoints += list->listing.events.items[i].kind == LISTED_TRACEPOINT;
	list->tries_tracepoints = tracepoints <= TRACEPOINTS_TRIED_MAX;
	return status;
}

static void print_metrics(struct cmd_list_list *list)
{
	const struct cmd_list_settings *settings = list->settings;
	struct list_metrics *metrics = &list->metrics;
	metrics->shows_all = settings->all;
	metrics->has_descriptions = !settings->no_desc;
	metrics->has_details = settings->details;
	bool has_metrics = list->wants_metrics || list_metrics_has_any(metrics);
	if (settings->json) {
		list_metrics_json(metrics, &list->json);
	} else if (settings->raw_dump) {
		list->has_printed = list_metrics_names(metrics, !list->has_printed, &list->out);
		if (list->wants_groups)
			list->has_printed = list_metric_groups_names(metrics, !list->has_printed, &list->out);
	} else {
		if (has_metrics)
			list_metrics_print(metrics, &list->out);
		if (list->wants_groups)
			list_metric_groups_print(metrics, &list->out);
	}
}

static enum tally_status cmd_list_print_all(struct cmd_list_list *list, struct tally_error *err)
{
	enum tally_status status = TALLY_OK;
	const struct cmd_list_settings *settings = list->settings;
	if (settings->json)
		json_array(&list->json, NULL);
	for (size_t i = 0; i < list->listing.events.len && status == TALLY_OK; i++)
		status = cmd_list_print_event(list, &list->listing.events.items[i], err);
	if (status == TALLY_OK)
		print_metrics(list);
	if (settings->json)
		json_array_end(&list->json);
	else if (settings->raw_dump && list->has_printed)
		text_char(&list->out, '\n');
	return status == TALLY_END ? TALLY_OK : status;
}

static void cmd_list_print_notes(const struct cli *cli, const struct cmd_list_list *list)
{
	fflush(stdout);
	if (list->settings->deprecated)
		cli_notef(cli, "none of the events that are listed here is deprecated");
	if (list->left_out > 0)
		cli_notef(cli, "%zu generic events do not open here (%s); --all shows them", list->left_out,
			list->why_left_out);
	if (list->metrics.left_out > 0)
		cli_notef(cli, "of %zu metrics not all events open here (%s); --all shows them", list->metrics.left_out,
			list->metrics.why_left_out);
	if (list->wants_vendors && list->listing.vendor_error.status != TALLY_OK)
		cli_notef(cli, "no vendor events: %s", list->listing.vendor_error.text);
	if (list->listing.tracefs_error.status != TALLY_OK)
		cli_notef(cli, "no tracepoints: %s", list->listing.tracefs_error.text);
}

static int cmd_list_events(const struct cli *cli, struct cmd_list_list *list, int count, char **words)
{
	struct tally_error err;
	struct output_file file;
	const char *path = list->settings->output;
	event_listing_init(&list->listing, list->catalogue);
	if (output_file_open(path, NULL, &file, &err) != TALLY_OK)
		return cli_fail(cli, &err);
	if (output_file_is_stdout(&file))
		cli_start_pager(cli);
	text_to_fd(&list->out, file.fd);
	list->json = (struct json){.out = &list->out};
	enum tally_status status = cmd_list_gather(list, count, words, &err);
	if (status == TALLY_OK)
		status = cmd_list_print_all(list, &err);
	int code = output_file_finish_text(cli, &list->out, &file, path, status);
	cli_end_pager();
	cmd_list_print_notes(cli, list);
	bool is_empty = list->listing.events.len == 0 && !list->wants_metrics && !list->wants_groups &&
			!list_metrics_has_any(&list->metrics);
	if (status == TALLY_OK && is_empty && list->wants_sdt)
		cli_notef(cli,
			"no program in the cache of build IDs has SDT probes: '%s buildid-cache --add FILE' reads "
			"those of a program",
			cli->program);
	else if (status == TALLY_OK && count > 0 && is_empty)
		cli_notef(cli,
			"no event or metric matches '%s'%s: patterns may contain * and ?; '%s list' shows "
			"all names",
			words[0], count > 1 ? ", nor the other words" : "", cli->program);
	event_listing_deinit(&list->listing);
	return status == TALLY_OK ? code : cli_fail(cli, &err);
}

static int cmd_list_run(const struct cli *cli, const struct command *command, int argc, char **argv)
{
	struct cmd_list_settings settings = {0};
	int rest;
	int code = cli_parse_options(cli, command, argc, argv, &settings, &rest);
	if (code != CLI_GO_ON)
		return code;
	struct tally_error err;
	struct cmd_list_list list = {.settings = &settings, .build_id_dir = cli->build_id_dir};
	if (event_catalogue_create(kernel_seam_linux(), &list.catalogue, &err) != TALLY_OK)
		return cli_fail(cli, &err);
	code = list_metrics_init(&list.metrics, list.catalogue) ? cmd_list_events(cli, &list, argc - rest, argv + rest)
								: cli_failf(cli, "out of memory");
	list_metrics_deinit(&list.metrics);
	event_catalogue_destroy(list.catalogue);
	return code;
}

const struct command command_list = {
	.name = "list",
	.summary = "List all symbolic event types",
	.usages = list_usages,
	.options = &list_table,
	.description =
		"Lists the events that stat and record take with -e: all of them, those of the named categories, or "
		"those whose names contain a word or match a glob.\n\n"
		"Generic events that this machine refuses are hidden, and their number is reported on standard "
		"error; --all shows them with the reason. --details shows each event's attributes and whether it "
		"opens here: each event is opened once, disabled. Tracepoints of long lists are not tried.",
	.examples = list_examples,
	.run = cmd_list_run,
};

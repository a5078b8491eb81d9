/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/probe/probe_look.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "cli/cli.h"
#include "code/demangle/demangle.h"
#include "code/probing/probe_filter.h"
#include "code/probing/probe_variables.h"
#include "tasks/probing/probe_convert.h"
#include "verbs/probe/probe_json.h"

#define PROBE_LOOK_FUNCTIONS "!_* & !*@plt"
#define PROBE_LOOK_VARIABLES "!__k???tab_* & !__crc_*"

static int probe_look_parse_filter(const struct cli *cli, const struct command *command,
	const struct probe_settings *settings, const char *usual, struct arena *arena,
	const struct probe_filter **filter)
{
	struct tally_error err;
	if (probe_filter_parse(settings->filter ? settings->filter : usual, arena, filter, &err) == TALLY_OK)
		return CLI_GO_ON;
	return cli_usagef(cli, command, "filter", "%s", err.text);
}

static int probe_look_by_text(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

struct probe_look_names {
	VEC(const char *) items;
};

/* Collects the names as they are displayed, in sorted order. */
static enum tally_status probe_look_names_add(const struct probe_settings *settings, struct probe_binary *binary,
	const struct probe_filter *filter, struct arena *arena, struct probe_look_names *names, struct tally_error *err)
{
	const struct probe_symbols *symbols;
	enum tally_status status = probe_binary_symbols(binary, &symbols, err);
	bool demangles = binary->kind == PROBE_PROGRAM ? !settings->no_demangle : settings->demangle_kernel;
	for (size_t i = 0; status == TALLY_OK && i < symbols->by_name.len; i++) {
		const char *name = symbols->items.items[symbols->by_name.items[i]].name;
		const char *shown = demangles ? demangle(arena, name) : name;
		if (probe_filter_fits(filter, str_from(shown)) && !vec_push(&names->items, shown))
			status = error_nomem(err);
	}
	if (names->items.len > 0)
		qsort(names->items.items, names->items.len, sizeof(*names->items.items), probe_look_by_text);
	return status;
}

static void probe_look_print_names(
	const struct probe_settings *settings, const struct probe_look_names *names, struct text *out)
{
	struct json j;
	if (settings->is_json)
		probe_json_begin(&j, out, "functions");
	for (size_t i = 0; i < names->items.len; i++) {
		if (settings->is_json) {
			json_string(&j, NULL, str_from(names->items.items[i]));
			continue;
		}
		text_visible(out, str_from(names->items.items[i]));
		text_char(out, '\n');
	}
	if (settings->is_json)
		probe_json_end(&j);
}

int probe_functions_run(const struct cli *cli, const struct command *command, const struct probe_settings *settings)
{
	struct arena arena;
	struct probe_binary *binary;
	struct tally_error err;
	struct probe_look_names names = {0};
	const struct probe_filter *filter;
	struct text out = {0};
	arena_init(&arena);
	int code = probe_look_parse_filter(cli, command, settings, PROBE_LOOK_FUNCTIONS, &arena, &filter);
	if (code != CLI_GO_ON) {
		arena_deinit(&arena);
		return code;
	}
	enum tally_status status = probe_settings_open(settings, &settings->target, &binary, &err);
	if (status == TALLY_OK) {
		status = probe_look_names_add(settings, binary, filter, &arena, &names, &err);
		if (status == TALLY_OK && binary->symbols->items.len == 0)
			status = error_set(&err, TALLY_NOT_FOUND,
				"Failed to load symbols from %s\nPlease ensure the file is not stripped.",
				binary->path);
		if (status == TALLY_OK && names.items.len == 0 && !settings->is_quiet)
			cli_sayf("No function of %s matches the filter '%s'.\n", binary->path,
				settings->filter ? settings->filter : PROBE_LOOK_FUNCTIONS);
		probe_look_print_names(settings, &names, &out);
		vec_free(&names.items);
		probe_binary_close(binary);
	}
	arena_deinit(&arena);
	if (status == TALLY_OK)
		return cli_finish_text(cli, &out);
	text_deinit(&out);
	return probe_settings_fail(settings, &err, "show functions");
}

int probe_lines_run(const struct cli *cli, const struct command *command, const struct probe_settings *settings)
{
	struct arena arena;
	struct probe_binary *binary;
	struct probe_line_range range;
	struct tally_error err;
	struct text out = {0};
	const struct probe_wish *wish = &settings->wishes.items[0];
	const struct probe_places_options options = {.no_inlines = settings->no_inlines,
		.max = PROBE_PLACES_DEFAULT,
		.source_directory = settings->source_directory};
	arena_init(&arena);
	if (settings->wishes.len > 1 && !settings->is_quiet)
		fprintf(stderr, "Warning: more than one --line options are detected. Only the first one is valid.\n");
	enum tally_status status = probe_line_range_parse(wish->text, &arena, &range, &err);
	if (status == TALLY_INVALID) {
		arena_deinit(&arena);
		return cli_usagef(cli, command, "line", "Semantic error :%s", err.text);
	}
	if (status == TALLY_OK)
		status = probe_settings_open(settings, &wish->target, &binary, &err);
	if (status == TALLY_OK) {
		status = probe_convert_debug_info(binary, &err);
		if (status == TALLY_OK)
			status = probe_lines_print(binary, &range, &options, &out, &err);
		probe_binary_close(binary);
	}
	arena_deinit(&arena);
	if (status == TALLY_OK)
		return cli_finish_text(cli, &out);
	text_deinit(&out);
	return probe_settings_fail(settings, &err, "show lines");
}

static bool probe_look_is_wanted(void *context, const char *name)
{
	return probe_filter_fits(context, str_from(name));
}

static enum tally_status probe_look_point(const struct probe_settings *settings, const struct probe_point *point,
	struct probe_binary *binary, const struct probe_filter *filter, struct text *out, struct tally_error *err)
{
	struct probe_places places;
	const struct probe_convert_options options = {.no_inlines = settings->no_inlines,
		.max_places = (size_t)settings->max_probes,
		.source_directory = settings->source_directory,
		.no_demangle = settings->no_demangle};
	const struct probe_variables_options shown = {.with_externs = settings->with_externs,
		.with_ranges = settings->with_ranges,
		.is_wanted = probe_look_is_wanted,
		.context = (void *)filter};
	enum tally_status status = probe_convert_debug_info(binary, err);
	if (status != TALLY_OK)
		return status;
	probe_places_init(&places);
	status = probe_convert_places(binary, point, false, &options, &places, err);
	if (status == TALLY_OK) {
		text_str(out, "Available variables at ");
		probe_point_print(point, out);
		text_char(out, '\n');
		probe_settings_print_notes(settings, places.notes.items, places.notes.len);
	}
	for (size_t i = 0; i < places.items.len && status == TALLY_OK; i++)
		status = probe_variables_print(binary, &places.items.items[i], &shown, out, err);
	probe_places_deinit(&places);
	return status;
}

int probe_variables_run(const struct cli *cli, const struct command *command, const struct probe_settings *settings)
{
	struct arena arena;
	struct tally_error err;
	struct text out = {0};
	const struct probe_filter *filter;
	enum tally_status status = TALLY_OK;
	bool is_wrong = false;
	arena_init(&arena);
	int code = probe_look_parse_filter(cli, command, settings, PROBE_LOOK_VARIABLES, &arena, &filter);
	for (size_t i = 0; code == CLI_GO_ON && i < settings->wishes.len && status == TALLY_OK; i++) {
		struct probe_point point;
		struct probe_binary *binary;
		const struct probe_wish *wish = &settings->wishes.items[i];
		status = probe_point_parse(wish->text, &arena, &point, &err);
		is_wrong = status == TALLY_INVALID;
		if (status == TALLY_OK)
			status = probe_settings_open(settings, &wish->target, &binary, &err);
		if (status != TALLY_OK)
			break;
		status = probe_look_point(settings, &point, binary, filter, &out, &err);
		probe_binary_close(binary);
	}
	arena_deinit(&arena);
	if (code == CLI_GO_ON && status == TALLY_OK)
		return cli_finish_text(cli, &out);
	text_deinit(&out);
	if (code != CLI_GO_ON)
		return code;
	return is_wrong ? cli_usagef(cli, command, "vars", "Semantic error :%s", err.text)
			: probe_settings_fail(settings, &err, "show vars");
}

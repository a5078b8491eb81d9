/* SPDX-License-Identifier: Apache-2.0 */
#include "tasks/probing/probe_convert.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "code/probing/probe_variables.h"
#include "kernel/probes/probe_blacklist.h"
#include "tasks/probing/probe_go.h"
#include "tasks/probing/probe_names.h"
#include "tasks/probing/probe_symbol_places.h"

void probe_conversion_init(struct probe_conversion *conversion)
{
	*conversion = (struct probe_conversion){0};
	arena_init(&conversion->arena);
}

void probe_conversion_deinit(struct probe_conversion *conversion)
{
	vec_free(&conversion->probes);
	vec_free(&conversion->notes);
	arena_deinit(&conversion->arena);
}

static bool probe_convert_wants_variables(const struct probe_definition *definition)
{
	for (size_t i = 0; i < definition->argument_count; i++)
		if (definition->arguments[i].kind != PROBE_ARGUMENT_FETCH)
			return true;
	return false;
}

static bool probe_convert_is_pattern(struct tally_str name)
{
	for (size_t i = 0; i < name.len; i++)
		if (strchr("*?[", name.data[i]))
			return true;
	return false;
}

enum tally_status probe_convert_debug_info(const struct probe_binary *binary, struct tally_error *err)
{
	if (binary->info)
		return TALLY_OK;
	if (binary->kind == PROBE_KERNEL && !binary->image)
		return error_set(err, TALLY_UNSUPPORTED,
			"Failed to find the path for the kernel: there is no vmlinux with its debug "
			"information.\nInstall the debuginfo package of the kernel, or name a vmlinux by -k.");
	return error_set(err, TALLY_UNSUPPORTED,
		"The %s file has no debug information.\nRebuild with -g, or install an appropriate debuginfo package.",
		binary->path);
}

/* Finds the places of a probe by debug information or, if that has none, by symbols. Debug information is preferred,
 * because a symbol has neither lines nor variables. */
static enum tally_status probe_convert_by_debug_info(struct probe_binary *binary, const struct probe_point *point,
	bool wants_variables, const struct probe_convert_options *options, struct probe_places *places,
	struct tally_error *err)
{
	const struct probe_places_options wanted = {.no_inlines = options->no_inlines,
		/* Kernels are compiled with optimization, so prologues are never skipped there. */
		.wants_variables = wants_variables && binary->kind == PROBE_PROGRAM,
		.max = options->max_places,
		.source_directory = options->source_directory};
	size_t before = places->items.len;
	enum tally_status status = probe_places_find(binary, point, &wanted, places, err);
	bool is_symbol = point->function.len > 0 && !point->has_line && point->lazy.len == 0 && point->file.len == 0;
	if (status == TALLY_OK && places->items.len > before)
		return TALLY_OK;
	if (status != TALLY_OK && status != TALLY_NOT_FOUND)
		return status;
	struct tally_error why;
	if (is_symbol && !options->no_inlines && !wants_variables &&
		probe_symbol_places_find(binary, point, options, places, &why) == TALLY_OK)
		return TALLY_OK;
	/* The message is completed by a similar name only if it says that the function was not found: with any other
	 * reason, the function exists. */
	if (err && point->function.len > 0 && str_ends_with(str_from(err->text), STR("not found."))) {
		why = *err;
		return probe_symbol_places_refuse(binary, point->function, why.text, err);
	}
	return TALLY_NOT_FOUND;
}

enum tally_status probe_convert_places(struct probe_binary *binary, const struct probe_point *point,
	bool wants_variables, const struct probe_convert_options *given, struct probe_places *places,
	struct tally_error *err)
{
	struct probe_convert_options options = *given;
	bool needs_debug_info = point->has_line || point->lazy.len > 0 || point->file.len > 0 || wants_variables;
	if (options.max_places == 0)
		options.max_places = PROBE_PLACES_DEFAULT;
	if (binary->info && !point->has_address)
		return probe_convert_by_debug_info(binary, point, wants_variables, &options, places, err);
	if (needs_debug_info && !(binary->info && point->has_address))
		return probe_convert_debug_info(binary, err);
	size_t before = places->items.len;
	enum tally_status status = probe_symbol_places_find(binary, point, &options, places, err);
	/* Determines which variables exist at an address. */
	struct probe_place known;
	if (status == TALLY_OK && wants_variables && places->items.len > before &&
		probe_places_describe(binary, point->address, &places->arena, &known, NULL) == TALLY_OK)
		places->items.items[before].scope = known.scope;
	return status;
}

/* Returns the given name of the event, or one that is derived from the function. */
static struct tally_str probe_convert_event_name(
	const struct probe_definition *definition, const struct probe_place *place, struct arena *arena)
{
	const struct probe_point *point = &definition->point;
	char suffix[32] = "";
	if (definition->event.len > 0)
		return point->is_return ? str_from(arena_printf(arena, "%.*s__return", (int)definition->event.len,
						  definition->event.data))
					: definition->event;
	bool is_named = point->function.len > 0 && !probe_convert_is_pattern(point->function);
	if (point->is_return)
		strcpy(suffix, "__return");
	else if (point->function.len > 0 && point->line > 0)
		snprintf(suffix, sizeof(suffix), "_L%u", point->line);
	/* As in perf, the name of a function that was found by a line or a pattern keeps its leading underscores. */
	enum probe_name_start start = is_named || !place->scope.file ? PROBE_NAME_STRIPPED : PROBE_NAME_WHOLE;
	const struct tally_str function = is_named ? point->function : str_from(place->function);
	return probe_name_of_function(arena, function, start, str_from(suffix));
}

static struct tally_str probe_convert_arguments(const struct probe_fetches *fetches, struct arena *arena)
{
	struct text text = {0};
	for (size_t i = 0; i < fetches->items.len; i++) {
		const struct probe_fetch *fetch = &fetches->items.items[i];
		if (i > 0)
			text_char(&text, ' ');
		if (fetch->name)
			text_printf(&text, "%s=", fetch->name);
		text_str(&text, fetch->text);
		if (fetch->type)
			text_printf(&text, ":%s", fetch->type);
	}
	char *copy = text.failed ? NULL : arena_string(arena, text_view(&text).data, text.len);
	const struct tally_str arguments = {copy, copy ? text.len : 0};
	text_deinit(&text);
	return arguments;
}

/* Refuses a path with blanks: the kernel splits a line at blanks, and has no escape for one in a path. */
static enum tally_status probe_convert_check_path(const struct probe_binary *binary, struct tally_error *err)
{
	for (const char *c = binary->path; *c; c++)
		if (isspace((unsigned char)*c))
			return error_set(err, TALLY_UNSUPPORTED,
				"the kernel takes no probes in '%s': its path has a blank; copy or link the file to "
				"one without",
				binary->path);
	return TALLY_OK;
}

static bool probe_convert_is_unique(const struct probe_symbols *symbols, struct tally_str name)
{
	size_t at = probe_symbols_find(symbols, name);
	return at == SIZE_MAX || at + 1 == symbols->by_name.len ||
	       !str_equal(str_from(symbols->items.items[symbols->by_name.items[at + 1]].name), name);
}

/* Sets the place where the kernel inserts the breakpoint. */
static enum tally_status probe_convert_place(struct probe_binary *binary, const struct probe_place *place,
	struct probe_event *event, struct tally_error *err)
{
	event->is_user = binary->kind == PROBE_PROGRAM;
	if (event->is_user) {
		if (place->file_offset == UINT64_MAX)
			return error_set(err, TALLY_NOT_FOUND,
				"0x%" PRIx64 " of %s is not in %s: no code of the file is there", place->address,
				place->function, binary->path);
		event->file = str_from(binary->path);
		event->offset = place->file_offset;
		return probe_convert_check_path(binary, err);
	}
	const struct probe_symbols *symbols;
	enum tally_status status = probe_binary_symbols(binary, &symbols, err);
	if (status != TALLY_OK)
		return status;
	event->file = binary->module;
	event->symbol = str_from(place->symbol ? place->symbol : place->function);
	event->offset = place->address - place->entry;
	/* A probe in a module, a return probe, and a probe in a kernel file at a unique symbol stay relative to their
	 * symbol: a return probe needs one, and modules are not covered by _text. */
	if (binary->kind == PROBE_MODULE || event->kind == 'r' ||
		(binary->is_offline && probe_convert_is_unique(symbols, event->symbol)))
		return TALLY_OK;
	/* As in perf, places of the running kernel are relative to _text, because several functions may have the same
	 * name. */
	size_t text = probe_symbols_find(symbols, STR("_text"));
	uint64_t start = text == SIZE_MAX ? UINT64_MAX : symbols->items.items[symbols->by_name.items[text]].address;
	if (place->address >= start) {
		event->symbol = STR("_text");
		event->offset = place->address - start;
	}
	return TALLY_OK;
}

static enum tally_status probe_convert_keep_notes(
	struct probe_conversion *conversion, const char *const *notes, size_t count, struct tally_error *err)
{
	for (size_t i = 0; i < count; i++) {
		const char *note = arena_string(&conversion->arena, notes[i], strlen(notes[i]));
		if (!note || !vec_push(&conversion->notes, note))
			return error_nomem(err);
	}
	return TALLY_OK;
}

static struct tally_str probe_convert_copy(struct arena *arena, struct tally_str text)
{
	const char *copy = arena_string(arena, text.data ? text.data : "", text.len);
	return (struct tally_str){copy, copy ? text.len : 0};
}

static enum tally_status probe_convert_one(struct probe_binary *binary, const struct probe_definition *definition,
	const struct probe_place *place, struct probe_conversion *conversion, struct tally_error *err)
{
	struct arena *arena = &conversion->arena;
	struct probe_converted probe = {.shown = definition->point, .definition = definition};
	struct probe_event *event = &probe.event;
	struct probe_fetches fetches;
	event->kind = definition->point.is_return ? 'r' : 'p';
	probe_fetches_init(&fetches);
	fetches.types_results = conversion->types_results;
	enum tally_status status = definition->point.is_return ? probe_go_check_return(binary, place, err) : TALLY_OK;
	if (status == TALLY_OK)
		status = probe_variables_fetch(
			binary, place, definition->arguments, definition->argument_count, &fetches, err);
	if (status == TALLY_OK)
		status = probe_convert_place(binary, place, event, err);
	if (status == TALLY_OK)
		status = probe_convert_keep_notes(conversion, fetches.notes.items, fetches.notes.len, err);
	if (status == TALLY_OK) {
		event->symbol = probe_convert_copy(arena, event->symbol);
		event->arguments = probe_convert_arguments(&fetches, arena);
		event->event = probe_convert_event_name(definition, place, arena);
		event->group = definition->group.len > 0       ? definition->group
			       : binary->kind == PROBE_PROGRAM ? probe_name_of_group(arena, binary->path)
							       : STR("probe");
		if (probe_convert_is_pattern(definition->point.function))
			probe.shown.function = probe_convert_copy(arena, str_from(place->function));
		if (!event->arguments.data || !event->symbol.data || event->event.len == 0 || event->group.len == 0 ||
			!vec_push(&conversion->probes, probe))
			status = error_nomem(err);
	}
	probe_fetches_deinit(&fetches);
	return status;
}

static enum tally_status probe_convert_check_names(const struct probe_definition *definition, struct tally_error *err)
{
	size_t most = PROBE_EVENT_NAME_BYTES - 1;
	bool is_group = definition->group.len > most;
	const struct tally_str name = is_group ? definition->group : definition->event;
	if (name.len <= most - (definition->point.is_return && !is_group ? strlen("__return") : 0))
		return TALLY_OK;
	return error_set(err, TALLY_INVALID,
		"the event name '%.*s' is too long\n  Hint: Set a shorter event with syntax \"EVENT=PROBEDEF\"\n"
		"        EVENT: Event name (max length: %d bytes).",
		(int)MIN(name.len, (size_t)100), name.data, PROBE_EVENT_NAME_BYTES);
}

/* Removes places that the running kernel does not allow to probe, with a note for each. */
static enum tally_status probe_convert_drop_blacklisted(const struct probe_binary *binary,
	const struct probe_blacklist *blacklist, struct probe_places *places, struct tally_error *err)
{
	size_t kept = 0;
	if (!blacklist || binary->kind == PROBE_PROGRAM || binary->is_offline)
		return TALLY_OK;
	for (size_t i = 0; i < places->items.len; i++) {
		const struct probe_place *place = &places->items.items[i];
		const char *symbol = place->symbol ? place->symbol : place->function;
		/* The addresses in a file are not those of the running kernel. */
		if (!probe_blacklist_has(blacklist, binary->image ? 0 : place->address, str_from(symbol))) {
			places->items.items[kept++] = *place;
			continue;
		}
		const char *note = arena_printf(&places->arena, "%s is blacklisted function, skip it.", symbol);
		if (!note || !vec_push(&places->notes, note))
			return error_nomem(err);
	}
	places->items.len = kept;
	return TALLY_OK;
}

static enum tally_status probe_convert_all_blacklisted(const struct probe_point *point, struct tally_error *err)
{
	char room[256];
	struct text text = text_over(room, sizeof(room) - 1);
	probe_point_print(point, &text);
	return error_set(err, TALLY_NOT_FOUND, "Probe point '%.*s' not found.", (int)text.len, room);
}

/* If there are several places, those without the requested variables are skipped, with a note. */
static enum tally_status probe_convert_each(struct probe_binary *binary, const struct probe_definition *definition,
	const struct probe_places *places, struct probe_conversion *conversion, struct tally_error *err)
{
	struct tally_error first = {0};
	size_t failed = 0;
	for (size_t i = 0; i < places->items.len; i++) {
		struct tally_error why;
		const struct probe_place *place = &places->items.items[i];
		enum tally_status status = probe_convert_one(binary, definition, place, conversion, &why);
		if (status == TALLY_OK)
			continue;
		bool may_skip = (status == TALLY_NOT_FOUND || status == TALLY_UNSUPPORTED) && places->items.len > 1;
		if (failed++ == 0)
			first = why;
		if (may_skip) {
			const char *note = arena_printf(
				&conversion->arena, "0x%" PRIx64 " is left out: %s", place->address, why.text);
			if (!note || !vec_push(&conversion->notes, note))
				return error_nomem(err);
		}
		if (!may_skip || failed == places->items.len) {
			if (may_skip)
				/* The notes are dropped, because the error contains the reason. */
				conversion->notes.len -= failed;
			if (err)
				*err = first;
			return first.status;
		}
	}
	return TALLY_OK;
}

enum tally_status probe_convert(struct probe_binary *binary, const struct probe_definition *definition,
	const struct probe_convert_options *options, struct probe_conversion *conversion, struct tally_error *err)
{
	struct probe_places places;
	enum tally_status status = probe_convert_check_names(definition, err);
	if (status != TALLY_OK)
		return status;
	probe_places_init(&places);
	status = probe_convert_places(
		binary, &definition->point, probe_convert_wants_variables(definition), options, &places, err);
	if (status == TALLY_OK)
		status = probe_convert_drop_blacklisted(binary, options->blacklist, &places, err);
	if (status == TALLY_OK)
		status = probe_convert_keep_notes(conversion, places.notes.items, places.notes.len, err);
	if (status == TALLY_OK && places.items.len == 0)
		status = probe_convert_all_blacklisted(&definition->point, err);
	if (status == TALLY_OK)
		status = probe_convert_each(binary, definition, &places, conversion, err);
	probe_places_deinit(&places);
	return status;
}

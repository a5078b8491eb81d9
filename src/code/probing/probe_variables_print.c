/* SPDX-License-Identifier: Apache-2.0 */
/*
 * probe_variables_print.c - prints the output of --vars for one place: the variables that exist there, in perf's order;
 * with --range also those that do not, and the ranges of code in which each exists.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "base/error.h"
#include "code/probing/probe_binary.h"
#include "code/probing/probe_variables.h"
#include "code/probing/probe_variables_internal.h"

struct probe_listing {
	struct probe_scene *scene;
	const struct probe_variables_options *options;
	VEC(const char *) lines;
	bool out_of_memory;
};

/* Prints the function that the code belongs to, not one that was inlined into it. */
static void probe_print_function(const struct probe_scene *scene, struct text *out)
{
	const struct probe_place *place = scene->reader.locator.place;
	if (scene->scope.function.len > 0)
		text_bytes(out, scene->scope.function.data, scene->scope.function.len);
	else
		text_str(out, place->symbol ? place->symbol : place->function ? place->function : "");
}

struct probe_range_print {
	struct probe_listing *listing;
	struct text *out;
	uint64_t entry; /* Address in debug information that offsets are relative to. */
	bool is_first;
};

/* Prints a range as offsets from the function's entry, or, if the compiler moved this code to a lower address
 * ("main.cold"), as offsets from its own symbol. */
static void probe_print_range(struct probe_range_print *print, uint64_t low, uint64_t high)
{
	struct probe_binary *binary = print->listing->scene->reader.binary;
	uint64_t start = 0;
	const char *symbol = low < print->entry ? probe_binary_symbol_at(binary, low + binary->moved, &start) : NULL;
	if (symbol) {
		print->entry = start - binary->moved;
		text_printf(print->out, "]> @<%s+[", symbol);
		print->is_first = true;
	}
	text_printf(print->out, "%s%" PRId64 "-%" PRId64, print->is_first ? "" : ",", (int64_t)(low - print->entry),
		(int64_t)(high - print->entry));
	print->is_first = false;
}

/* Prints ranges such as "@<sum+[0-74,74-241]>". */
static void probe_print_ranges(
	struct probe_listing *listing, const struct dwarf_scope_variable *variable, struct text *out)
{
	struct probe_locator *locator = &listing->scene->reader.locator;
	const struct probe_place *place = locator->place;
	struct probe_range_print print = {listing, out, place->entry - locator->binary->moved, true};
	struct dwarf_location_list list;
	struct tally_bytes expression;
	uint64_t low, high;
	text_str(out, "\t@<");
	probe_print_function(listing->scene, out);
	text_str(out, "+[");
	bool is_everywhere = variable->location.kind == DWARF_LOCATION_EXPRESSION || variable->is_constant;
	for (size_t i = 0; is_everywhere && i < variable->span_count; i++) {
		const struct dwarf_span *span = &listing->scene->scope.spans.items[variable->first_span + i];
		probe_print_range(&print, span->low, span->high);
	}
	dwarf_location_begin(&list, locator->lists, variable->at.file, place->scope.unit, &variable->location);
	while (!is_everywhere && probe_list_next(locator, &list, &low, &high, &expression))
		probe_print_range(&print, low, high);
	text_str(out, "]>");
}

static void probe_list_variable(
	struct probe_listing *listing, const struct dwarf_scope_variable *variable, bool is_global)
{
	struct probe_reader *reader = &listing->scene->reader;
	struct probe_location location;
	struct text line = {0};
	char *name = arena_string(reader->locator.arena, variable->name.data, variable->name.len);
	listing->out_of_memory |= !name;
	if (!name || (listing->options->is_wanted && !listing->options->is_wanted(listing->options->context, name)))
		return;
	probe_location_find(&reader->locator, variable, &location);
	bool is_there = location.kind != PROBE_LOCATION_NONE || location.is_described;
	bool is_anywhere = is_there || location.is_elsewhere || variable->location.kind != DWARF_LOCATION_NONE;
	if (!(listing->options->with_ranges && !is_global ? is_anywhere : is_there))
		return;
	if (listing->options->with_ranges)
		text_str(&line, is_global ? "[EXT]\t" : is_there ? "[VAL]\t" : "[INV]\t");
	text_str(&line, dwarf_type_name(reader->types, dwarf_type_at(reader->types, variable->type)));
	text_char(&line, '\t');
	text_bytes(&line, variable->name.data, variable->name.len);
	if (listing->options->with_ranges && !is_global)
		probe_print_ranges(listing, variable, &line);
	const char *copy = line.failed ? NULL : arena_string(reader->locator.arena, line.data, line.len);
	listing->out_of_memory |= !copy || !vec_push(&listing->lines, copy);
	text_deinit(&line);
}

static int probe_line_order(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void probe_print_lines(struct probe_listing *listing, struct text *out)
{
	if (listing->lines.len > 0)
		qsort(listing->lines.items, listing->lines.len, sizeof(*listing->lines.items), probe_line_order);
	else
		text_str(out, "\t\t(No matched variables)\n");
	for (size_t i = 0; i < listing->lines.len; i++)
		if (i == 0 || strcmp(listing->lines.items[i], listing->lines.items[i - 1]) != 0)
			text_printf(out, "\t\t%s\n", listing->lines.items[i]);
}

static enum tally_status probe_list_all(struct probe_listing *listing, struct tally_error *err)
{
	struct probe_scene *scene = listing->scene;
	enum tally_status status = listing->options->with_externs ? probe_scene_read_globals(scene, err) : TALLY_OK;
	for (size_t i = 0; i < scene->scope.items.len; i++)
		probe_list_variable(listing, &scene->scope.items.items[i], false);
	for (size_t i = 0; scene->globals && i < scene->globals->items.len; i++)
		probe_list_variable(listing, &scene->globals->items.items[i], true);
	if (listing->out_of_memory || scene->reader.types->out_of_memory || scene->reader.locator.out_of_memory)
		return error_nomem(err);
	return status;
}

enum tally_status probe_variables_print(struct probe_binary *binary, const struct probe_place *place,
	const struct probe_variables_options *options, struct text *out, struct tally_error *err)
{
	struct probe_scene scene;
	struct probe_fetches fetches;
	struct probe_listing listing = {.scene = &scene, .options = options};
	probe_fetches_init(&fetches);
	enum tally_status status = probe_scene_open(&scene, binary, place, &fetches, err);
	if (status == TALLY_OK) {
		status = probe_list_all(&listing, err);
		text_str(out, "\t@<");
		probe_print_function(&scene, out);
		text_printf(out, "+%" PRIu64 ">\n", place->address - place->entry);
		if (status == TALLY_OK)
			probe_print_lines(&listing, out);
		probe_scene_close(&scene);
	}
	vec_free(&listing.lines);
	probe_fetches_deinit(&fetches);
	return status;
}

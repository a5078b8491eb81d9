/* SPDX-License-Identifier: Apache-2.0 */
#include "code/probing/probe_places.h"

#include <inttypes.h>

#include "base/error.h"
#include "base/map_u64.h"
#include "code/probing/probe_binary.h"
#include "code/probing/probe_functions.h"
#include "code/probing/probe_prologue.h"
#include "code/probing/probe_rows.h"
#include "code/probing/probe_source.h"

struct probe_places_search {
	struct probe_functions *functions;
	const struct probe_point *point;
	const struct probe_places_options *options;
	struct probe_places *out;
	size_t first; /* Index in out->items of the first place for this point. */
	struct map_u64 seen; /* Set of the addresses of these places. */
	bool has_function; /* A function matches the name. */
	bool has_code; /* A function that matches the name has code. */
	const char *path; /* Source file that was searched for lines; NULL if there is none. */
	uint32_t line; /* Line that was searched for; 0 for a pattern. */
	uint32_t next_line; /* First line with code after the lines that were searched for; 0 if there is none. */
	uint32_t declared; /* Line of the function's declaration. */
};

static const char *probe_places_text(struct probe_places_search *search, struct tally_str text)
{
	return text.data ? arena_string(&search->out->arena, text.data, text.len) : NULL;
}

static void probe_places_set_scope(
	const struct probe_functions *functions, struct probe_code code, struct probe_place *place)
{
	const struct debug_unit *debug = &functions->units[code.unit].debug;
	const struct dwarf_function *all = debug->functions->functions.items;
	struct probe_code outer = probe_code_outer(functions, code);
	place->is_inlined = outer.function != code.function;
	place->scope = (struct probe_scope){.file = debug->file,
		.unit = debug->unit,
		.function = all[outer.function].entry,
		.inlined = place->is_inlined ? all[code.function].entry : 0,
		.split_image = debug->split_image,
		.packaged = debug->packaged};
}

/* Sets the symbol of the code, or the function's name from debug information if there is none. */
static void probe_places_set_symbol(struct probe_functions *functions, uint64_t outer_entry, struct probe_place *place)
{
	struct probe_binary *binary = functions->binary;
	place->file_offset = binary->image ? probe_binary_offset(binary, place->address) : UINT64_MAX;
	place->symbol = probe_binary_symbol_at(binary, place->address, &place->entry);
	if (place->symbol)
		return;
	place->symbol = place->function;
	place->entry = outer_entry + binary->moved;
}

/* Adds a place for the row, unless its address has one. If row->path is NULL, the source file is that of the function's
 * declaration. */
static enum tally_status probe_places_add(
	struct probe_places_search *search, const struct probe_row *row, struct tally_error *err)
{
	struct probe_functions *functions = search->functions;
	uint32_t index = probe_code_root(functions, row->code);
	struct probe_root *root = index != PROBE_NO_ROOT ? &functions->roots.items[index] : NULL;
	struct probe_place place = {.address = row->address + functions->binary->moved,
		.line = row->line,
		.declared = root ? root->declaration.line : 0,
		.is_return = search->point->is_return};
	bool is_new;
	if (!map_u64_at(&search->seen, place.address, &is_new))
		return error_nomem(err);
	if (!is_new)
		return TALLY_OK;
	if (search->out->items.len - search->first >= search->options->max)
		return error_set(err, TALLY_LIMIT, "Too many( > %zu) probe point found.", search->options->max);
	struct tally_str name = root ? probe_root_name(root) : (struct tally_str){NULL, 0};
	/* If the user names a function by its symbol, the place uses the symbol, too. */
	if (root && root->declaration.linkage.len > 0 && str_equal(search->point->function, root->declaration.linkage))
		name = root->declaration.linkage;
	place.function = probe_places_text(search, name);
	const char *path = row->path ? row->path : root ? probe_root_path(functions, root) : NULL;
	place.source = path ? probe_places_text(search, str_from(path)) : NULL;
	if ((name.data && !place.function) || (path && !place.source))
		return error_nomem(err);
	uint64_t entry = 0;
	bool has_entry = probe_code_entry(functions, probe_code_outer(functions, row->code), &entry);
	place.is_entry = has_entry && entry == row->address;
	probe_places_set_scope(functions, row->code, &place);
	probe_places_set_symbol(functions, entry, &place);
	return vec_push(&search->out->items, place) ? TALLY_OK : error_nomem(err);
}

/* Moves the row to the end of the prologue if the code may be unoptimized: before, the prologue has not yet stored the
 * parameters at the locations in the debug information. */
static enum tally_status probe_places_skip_prologue(
	struct probe_places_search *search, struct probe_row *row, struct tally_error *err)
{
	uint64_t entry = row->address;
	struct probe_prologue prologue;
	if (!probe_prologue_find(search->functions, row->code, entry, &prologue) || prologue.end == entry)
		return TALLY_OK;
	row->address = prologue.end;
	const char *note = arena_printf(&search->out->arena,
		"%s Skipping prologue.\nProbe on address 0x%" PRIx64 " to force probing at the function entry.\n",
		prologue.is_unoptimized ? "Target program is compiled without optimization."
					: "Target program does not say that it was compiled with optimization.",
		entry + search->functions->binary->moved);
	return note && vec_push(&search->out->notes, note) ? TALLY_OK : error_nomem(err);
}

/* Handles points of the forms FUNC, FUNC+OFFSET and FUNC%return. */
static enum tally_status probe_places_at_entries(
	struct probe_places_search *search, uint32_t root, struct tally_error *err)
{
	const struct probe_point *point = search->point;
	struct probe_functions *functions = search->functions;
	enum tally_status status = TALLY_OK;
	for (uint32_t i = 0; i < functions->roots.items[root].count && status == TALLY_OK; i++) {
		struct probe_row row = {.code = functions->codes.items[functions->roots.items[root].first + i]};
		struct probe_code caller;
		bool is_inlined = probe_code_caller(functions, row.code, &caller);
		if (is_inlined && (search->options->no_inlines || point->is_return ||
					  probe_code_is_continued(functions, row.code)))
			continue;
		if (!probe_code_entry(functions, row.code, &row.address))
			continue;
		search->has_code = true;
		row.address += point->offset;
		if (point->offset > 0 && !probe_code_covers(functions, row.code, row.address))
			continue;
		row.line = point->offset == 0 && !is_inlined ? functions->roots.items[root].declaration.line : 0;
		if (search->options->wants_variables && point->offset == 0 && !point->is_return && !is_inlined)
			status = probe_places_skip_prologue(search, &row, err);
		if (status == TALLY_OK)
			status = probe_places_add(search, &row, err);
	}
	return status;
}

static enum tally_status probe_places_at_lines(
	struct probe_places_search *search, const struct probe_row_filter *filter, struct tally_error *err)
{
	struct probe_rows rows = {.next_line = 0};
	enum tally_status status = probe_rows_find(search->functions, filter, &rows, err);
	for (size_t i = 0; i < rows.items.len && status == TALLY_OK; i++)
		status = probe_places_add(search, &rows.items.items[i], err);
	search->next_line = rows.next_line;
	vec_free(&rows.items);
	return status;
}

/* Adds code of the lines of one source file that match the point's pattern. */
static enum tally_status probe_places_at_pattern(
	struct probe_places_search *search, struct probe_row_filter filter, struct tally_error *err)
{
	struct probe_source_lines lines = {.items = {0}};
	const char *path = filter.path.data;
	enum tally_status status =
		probe_source_match(path, search->options->source_directory, search->point->lazy, &lines, err);
	filter.lines = lines.items.items;
	filter.count = lines.items.len;
	if (status == TALLY_OK && filter.count > 0)
		status = probe_places_at_lines(search, &filter, err);
	vec_free(&lines.items);
	return status;
}

static enum tally_status probe_places_in_function(
	struct probe_places_search *search, uint32_t index, struct tally_error *err)
{
	const struct probe_point *point = search->point;
	struct probe_root *root = &search->functions->roots.items[index];
	const char *path = probe_root_path(search->functions, root);
	if (point->file.len > 0 && !(path && probe_path_matches(path, point->file)))
		return TALLY_OK;
	search->has_function = true;
	if (point->lazy.len == 0 && point->line == 0)
		return probe_places_at_entries(search, index, err);
	if (!path || root->declaration.line == 0)
		return TALLY_OK;
	uint32_t line = root->declaration.line + point->line;
	struct probe_row_filter filter = {
		.path = str_from(path), .root = index, .no_inlines = search->options->no_inlines};
	search->path = path;
	search->declared = root->declaration.line;
	if (point->lazy.len > 0)
		return probe_places_at_pattern(search, filter, err);
	search->line = line;
	filter.lines = &line;
	filter.count = 1;
	return line > point->line ? probe_places_at_lines(search, &filter, err) : TALLY_OK;
}

static enum tally_status probe_places_in_functions(
	struct probe_places_search *search, enum probe_match match, struct tally_error *err)
{
	struct probe_functions *functions = search->functions;
	enum tally_status status = TALLY_OK;
	for (uint32_t i = 0; i < functions->roots.len && status == TALLY_OK; i++)
		if (probe_root_matches(functions, &functions->roots.items[i], search->point->function, match))
			status = probe_places_in_function(search, i, err);
	return status;
}

static enum tally_status probe_places_in_file(struct probe_places_search *search, struct tally_error *err)
{
	struct probe_paths paths = {.items = {0}};
	struct probe_row_filter filter = {.lines = &search->point->line, .count = 1, .root = PROBE_NO_ROOT};
	enum tally_status status = probe_paths_find(search->functions, search->point->file, &paths, err);
	for (size_t i = 0; i < paths.items.len && status == TALLY_OK; i++) {
		search->path = paths.items.items[i];
		search->line = search->point->line;
		filter.path = str_from(search->path);
		status = search->point->lazy.len > 0 ? probe_places_at_pattern(search, filter, err)
						     : probe_places_at_lines(search, &filter, err);
	}
	vec_free(&paths.items);
	return status;
}

static enum tally_status probe_places_at_address(struct probe_places_search *search, struct tally_error *err)
{
	struct probe_functions *functions = search->functions;
	struct probe_row row = {.address = search->point->address - functions->binary->moved};
	uint32_t unit;
	if (probe_unit_at(functions, row.address, &unit) && probe_code_at(functions, unit, row.address, &row.code))
		return probe_places_add(search, &row, err);
	struct probe_place place = {.address = search->point->address};
	probe_places_set_symbol(functions, row.address, &place);
	place.function = place.symbol;
	if (!place.symbol && place.file_offset == UINT64_MAX)
		return error_set(
			err, TALLY_NOT_FOUND, "%s has no code at 0x%" PRIx64, functions->binary->path, place.address);
	return vec_push(&search->out->items, place) ? TALLY_OK : error_nomem(err);
}

/* Sets an error that says why there is no place. */
static enum tally_status probe_places_missing(const struct probe_places_search *search, struct tally_error *err)
{
	const struct probe_point *point = search->point;
	struct text name = {0};
	probe_point_print(point, &name);
	text_char(&name, 0);
	const char *text = name.failed ? "" : name.data;
	int length = (int)point->function.len;
	enum tally_status status;
	if (search->has_code)
		status = error_set(err, TALLY_INVALID, "Offset %" PRIu64 " is bigger than the size of %.*s",
			point->offset, length, point->function.data);
	else if (search->has_function && point->is_return)
		status = error_set(err, TALLY_UNSUPPORTED,
			"Failed to find the return of %.*s: all calls of it are inlined", length, point->function.data);
	else if (search->has_function && search->options->no_inlines && !search->path)
		status = error_set(err, TALLY_NOT_FOUND,
			"Probe point '%s' not found: all calls of it are inlined, and --no-inlines leaves them out",
			text);
	else if (search->path && search->line > 0 && search->next_line > 0)
		status = error_set(err, TALLY_NOT_FOUND,
			"Probe point '%s' not found: no code begins in line %" PRIu32
			" of %s; the next line with code is %" PRIu32,
			text, search->line - search->declared, search->declared ? "the function" : search->path,
			search->next_line - search->declared);
	else if (search->path && search->line > 0)
		status = error_set(err, TALLY_NOT_FOUND,
			"Probe point '%s' not found: no code of %s begins in line %" PRIu32 " or behind it", text,
			search->declared ? "the function" : search->path, search->line - search->declared);
	else if (search->path)
		status = error_set(err, TALLY_NOT_FOUND, "Probe point '%s' not found: no line with code matches '%.*s'",
			text, (int)point->lazy.len, point->lazy.data);
	else if (search->functions->unread_units > 0)
		status = error_set(err, TALLY_NOT_FOUND,
			"Probe point '%s' not found. %" PRIu64
			" units of debug information cannot be read: their .dwo files are missing, or they are damaged",
			text, search->functions->unread_units);
	else
		status = error_set(err, TALLY_NOT_FOUND, "Probe point '%s' not found.", text);
	text_deinit(&name);
	return status;
}

enum tally_status probe_places_find(struct probe_binary *binary, const struct probe_point *point,
	const struct probe_places_options *options, struct probe_places *places, struct tally_error *err)
{
	struct probe_places_search search = {.point = point, .options = options, .out = places};
	enum tally_status status = probe_functions_of(binary, &search.functions, err);
	search.first = places->items.len;
	if (status != TALLY_OK)
		return status;
	if (point->has_address)
		status = probe_places_at_address(&search, err);
	else if (point->function.len == 0)
		status = probe_places_in_file(&search, err);
	else
		for (int match = PROBE_MATCH_NAME;
			match <= PROBE_MATCH_QUALIFIED && status == TALLY_OK && !search.has_function; match++)
			status = probe_places_in_functions(&search, (enum probe_match)match, err);
	if (status == TALLY_OK && places->items.len == search.first)
		status = probe_places_missing(&search, err);
	map_u64_deinit(&search.seen);
	return status;
}

/* If inlined code begins at the address, sets the place's line to that of the call. Returns the innermost code that
 * does not begin there as inlined code. */
static struct probe_code probe_places_describe_call(
	struct probe_functions *functions, struct probe_code code, uint64_t address, struct probe_place *place)
{
	struct probe_code caller;
	uint64_t entry;
	while (probe_code_caller(functions, code, &caller) && probe_code_entry(functions, code, &entry) &&
		entry == address) {
		const struct dwarf_function *call =
			&functions->units[code.unit].debug.functions->functions.items[code.function];
		place->line = call->call_line;
		place->source = probe_unit_path(functions, code.unit, call->call_file);
		code = caller;
	}
	return code;
}

enum tally_status probe_places_describe(struct probe_binary *binary, uint64_t address, struct arena *arena,
	struct probe_place *out, struct tally_error *err)
{
	struct probe_functions *functions;
	struct probe_row row;
	uint64_t at = address - binary->moved;
	enum tally_status status = probe_functions_of(binary, &functions, err);
	if (status != TALLY_OK)
		return status;
	if (!probe_row_at(functions, at, &row))
		return error_set(err, TALLY_NOT_FOUND, "the debug information of %s has no function at 0x%" PRIx64,
			binary->path, address);
	struct probe_place place = {.address = address, .line = row.line, .source = row.path};
	struct probe_code code = probe_places_describe_call(functions, row.code, at, &place);
	uint32_t index = probe_code_root(functions, code);
	struct probe_root *root = index != PROBE_NO_ROOT ? &functions->roots.items[index] : NULL;
	uint64_t entry = 0;
	place.is_entry = probe_code_entry(functions, probe_code_outer(functions, code), &entry) && entry == at;
	const char *declared_in = root ? probe_root_path(functions, root) : NULL;
	place.declared = root ? root->declaration.line : 0;
	if (place.is_entry) {
		place.line = place.declared;
		place.source = declared_in;
	} else if (place.declared > 0 && (place.line < place.declared || !place.source || !declared_in ||
						 strcmp(place.source, declared_in) != 0)) {
		/* A line before the declaration, or in another file, cannot be relative to the function. */
		place.line = 0;
		place.source = declared_in;
	}
	struct tally_str name = root ? probe_root_name(root) : (struct tally_str){NULL, 0};
	place.function = name.data ? arena_string(arena, name.data, name.len) : NULL;
	if (name.data && !place.function)
		return error_nomem(err);
	probe_places_set_scope(functions, code, &place);
	probe_places_set_symbol(functions, entry, &place);
	*out = place;
	return TALLY_OK;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "code/probing/probe_rows.h"

#include <stdlib.h>

#include "base/error.h"
#include "base/map_u64.h"
#include "base/order.h"

struct probe_rows_walk {
	struct probe_functions *functions;
	const struct probe_row_filter *filter;
	struct probe_rows *rows;
	struct map_u64 seen; /* Set of the addresses in rows. */
	uint8_t *is_wanted; /* Indexed by the unit's file number. */
	size_t file_count;
	uint32_t last_line; /* Last line of the out-of-line code of the filter's function; 0 if it has none. */
	bool out_of_memory;
};

static struct tally_str probe_rows_base_name(struct tally_str path)
{
	const char *slash = memrchr(path.data, '/', path.len);
	size_t skipped = slash ? (size_t)(slash + 1 - path.data) : 0;
	return (struct tally_str){path.data + skipped, path.len - skipped};
}

static bool probe_rows_is_end(struct tally_str path, struct tally_str end)
{
	return str_ends_with(path, end) && (path.len == end.len || path.data[path.len - end.len - 1] == '/');
}

bool probe_path_matches(const char *path, struct tally_str wanted)
{
	struct tally_str whole = str_from(path);
	while (str_starts_with(wanted, STR("./")))
		wanted = (struct tally_str){wanted.data + 2, wanted.len - 2};
	if (whole.len == 0 || wanted.len == 0)
		return false;
	/* Debug information may have a path that is relative to an unknown folder. */
	return wanted.data[0] != '/' || whole.data[0] == '/'
		       ? str_equal(whole, wanted) || (wanted.data[0] != '/' && probe_rows_is_end(whole, wanted))
		       : probe_rows_is_end(wanted, whole);
}

/* Compares the last parts of the paths first, because these usually differ. */
static bool probe_rows_match_file(
	struct probe_functions *functions, uint32_t unit, uint32_t file, struct tally_str wanted)
{
	const struct dwarf_line_file *item = &functions->units[unit].debug.lines->files.items[file];
	if (!str_equal(probe_rows_base_name(item->name), probe_rows_base_name(wanted)))
		return false;
	const char *path = probe_unit_path(functions, unit, file);
	return path && probe_path_matches(path, wanted);
}

/* Returns false if no file of the unit is wanted. */
static bool probe_rows_choose_files(struct probe_rows_walk *walk, uint32_t unit)
{
	const struct dwarf_lines *lines = walk->functions->units[unit].debug.lines;
	bool any = false;
	free(walk->is_wanted);
	walk->file_count = lines->files.len;
	walk->is_wanted = calloc(walk->file_count ? walk->file_count : 1, 1);
	walk->out_of_memory |= !walk->is_wanted;
	for (uint32_t i = 0; walk->is_wanted && i < walk->file_count; i++) {
		walk->is_wanted[i] = probe_rows_match_file(walk->functions, unit, i, walk->filter->path);
		any |= walk->is_wanted[i];
	}
	return any;
}

static bool probe_rows_wants_line(struct probe_rows_walk *walk, uint32_t line)
{
	const struct probe_row_filter *filter = walk->filter;
	size_t at;
	if (line == 0)
		return false;
	if (!filter->lines)
		return true;
	LOWER_BOUND(at, filter->count, middle, filter->lines[middle] < line);
	if (at < filter->count && filter->lines[at] == line)
		return true;
	uint32_t last = filter->count ? filter->lines[filter->count - 1] : 0;
	if (line > last && (walk->rows->next_line == 0 || line < walk->rows->next_line))
		walk->rows->next_line = line;
	return false;
}

/* Returns whether a line of this code belongs to the filter's function, or to a function declared in it, such as a
 * closure (gcc omits its parent). Lines of functions that were inlined into it do not belong to it. */
static bool probe_rows_is_within(const struct probe_rows_walk *walk, struct probe_code code, uint32_t line)
{
	const struct probe_functions *functions = walk->functions;
	uint32_t wanted = walk->filter->root;
	uint32_t root = probe_code_root(functions, code);
	struct probe_code caller;
	if (wanted == PROBE_NO_ROOT)
		return true;
	if (root == PROBE_NO_ROOT || (walk->filter->no_inlines && probe_code_caller(functions, code, &caller)))
		return false;
	const struct dwarf_declaration *around = &functions->roots.items[wanted].declaration;
	const struct dwarf_declaration *own = &functions->roots.items[root].declaration;
	if (root == wanted)
		return true;
	if (line <= around->line || line > walk->last_line)
		return false;
	return own->line == 0 || (own->path_unit == around->path_unit && own->path == around->path &&
					 own->line > around->line && own->line <= walk->last_line);
}

static void probe_rows_add(struct probe_rows_walk *walk, const struct probe_row *row)
{
	bool is_new = false;
	if (!map_u64_at(&walk->seen, row->address, &is_new) || (is_new && !vec_push(&walk->rows->items, *row)))
		walk->out_of_memory = true;
}

/* Returns the code that the line belongs to: the line of a call belongs to the caller, even at the first address of the
 * inlined code. */
static struct probe_code probe_rows_of_call(
	const struct probe_functions *functions, struct probe_code code, uint32_t file, uint32_t line)
{
	struct probe_code caller;
	while (probe_code_caller(functions, code, &caller)) {
		const struct dwarf_function *inlined =
			&functions->units[code.unit].debug.functions->functions.items[code.function];
		if (inlined->call_file != file || inlined->call_line != line)
			break;
		code = caller;
	}
	return code;
}

/* Of the innermost code at an address and its callers, returns the code with the last declaration before the line.
 * Compilers mix the statements around a call with those of inlined code. */
static struct probe_code probe_rows_of_line(
	struct probe_functions *functions, struct probe_code code, uint32_t file, uint32_t line)
{
	const char *path = probe_unit_path(functions, code.unit, file);
	struct probe_code best = code;
	struct probe_code each = code;
	uint32_t best_line = 0;
	do {
		uint32_t index = probe_code_root(functions, each);
		struct probe_root *root = index != PROBE_NO_ROOT ? &functions->roots.items[index] : NULL;
		if (!root || root->declaration.line > line || root->declaration.line <= best_line)
			continue;
		const char *declared_in = probe_root_path(functions, root);
		if (!path || !declared_in || strcmp(path, declared_in) != 0)
			continue;
		best_line = root->declaration.line;
		best = each;
	} while (probe_code_caller(functions, each, &each));
	return best_line > 0 ? best : probe_rows_of_call(functions, code, file, line);
}

/* Returns the code at the statement's address that its line belongs to. */
static bool probe_rows_code_of(const struct probe_rows_walk *walk, uint32_t unit,
	const struct dwarf_statement *statement, struct probe_code *code)
{
	if (statement->file >= walk->file_count || !walk->is_wanted[statement->file] ||
		!probe_code_at(walk->functions, unit, statement->address, code))
		return false;
	*code = probe_rows_of_line(walk->functions, *code, statement->file, statement->line);
	return true;
}

/* Finds the last line of the filter's function. Inlined statements do not count, because compilers mix them with its
 * own. */
static void probe_rows_find_last_line(struct probe_rows_walk *walk, uint32_t unit)
{
	const struct dwarf_lines *lines = probe_unit_lines(walk->functions, unit);
	struct probe_code code;
	struct probe_code caller;
	for (size_t i = 0; lines && i < lines->statements.len; i++) {
		const struct dwarf_statement *statement = &lines->statements.items[i];
		if (statement->line > walk->last_line && probe_rows_code_of(walk, unit, statement, &code) &&
			probe_code_root(walk->functions, code) == walk->filter->root &&
			!probe_code_caller(walk->functions, code, &caller))
			walk->last_line = statement->line;
	}
}

static void probe_rows_add_statements(struct probe_rows_walk *walk, uint32_t unit)
{
	const struct dwarf_lines *lines = probe_unit_lines(walk->functions, unit);
	walk->out_of_memory |= !lines;
	for (size_t i = 0; lines && i < lines->statements.len && !walk->out_of_memory; i++) {
		const struct dwarf_statement *statement = &lines->statements.items[i];
		struct probe_row row = {.address = statement->address, .line = statement->line};
		if (!probe_rows_code_of(walk, unit, statement, &row.code) ||
			!probe_rows_is_within(walk, row.code, row.line) || !probe_rows_wants_line(walk, row.line))
			continue;
		row.path = probe_unit_path(walk->functions, unit, statement->file);
		probe_rows_add(walk, &row);
	}
}

/* Adds the entry of a function if its declaration, or the inlined call of it, is in a wanted line: the code belongs to
 * that line. */
static void probe_rows_add_entry(
	struct probe_rows_walk *walk, struct probe_code own, struct probe_code code, const char *path, uint32_t line)
{
	struct probe_row row = {.path = path, .line = line, .code = code};
	if (path && probe_path_matches(path, walk->filter->path) && probe_rows_is_within(walk, code, line) &&
		probe_rows_wants_line(walk, line) && probe_code_entry(walk->functions, own, &row.address))
		probe_rows_add(walk, &row);
}

/* Adds rows for entries of functions: line tables have no rows for declarations, and may lack rows for inlined calls.
 * If each address has one row, this is called twice, because declarations take precedence over statements, and
 * statements over calls. */
static void probe_rows_add_entries(struct probe_rows_walk *walk, uint32_t unit, bool of_declarations)
{
	struct probe_functions *functions = walk->functions;
	const struct dwarf_functions *all = functions->units[unit].debug.functions;
	for (uint32_t i = 0; i < all->functions.len && !walk->out_of_memory; i++) {
		const struct dwarf_function *function = &all->functions.items[i];
		struct probe_code own = {unit, i};
		struct probe_code caller;
		bool is_inlined = probe_code_caller(functions, own, &caller);
		uint32_t root = probe_code_root(functions, own);
		bool is_first = of_declarations && !is_inlined;
		if (probe_code_is_continued(functions, own))
			continue;
		if (root != PROBE_NO_ROOT && (is_first || !walk->filter->is_of_first))
			probe_rows_add_entry(walk, own, own, probe_root_path(functions, &functions->roots.items[root]),
				functions->roots.items[root].declaration.line);
		if (is_inlined && !of_declarations)
			probe_rows_add_entry(walk, own, caller, probe_unit_path(functions, unit, function->call_file),
				function->call_line);
	}
}

static bool probe_rows_has_root(const struct probe_functions *functions, uint32_t unit, uint32_t wanted)
{
	if (wanted == PROBE_NO_ROOT)
		return true;
	const struct probe_root *root = &functions->roots.items[wanted];
	size_t at;
	LOWER_BOUND(at, root->count, middle, functions->codes.items[root->first + middle].unit < unit);
	return at < root->count && functions->codes.items[root->first + at].unit == unit;
}

enum tally_status probe_rows_find(struct probe_functions *functions, const struct probe_row_filter *filter,
	struct probe_rows *rows, struct tally_error *err)
{
	struct probe_rows_walk walk = {.functions = functions, .filter = filter, .rows = rows};
	for (uint32_t unit = 0; unit < functions->unit_count && !walk.out_of_memory; unit++) {
		if (!functions->units[unit].debug.functions || !probe_rows_has_root(functions, unit, filter->root) ||
			!probe_rows_choose_files(&walk, unit))
			continue;
		if (filter->root != PROBE_NO_ROOT)
			probe_rows_find_last_line(&walk, unit);
		if (filter->is_of_first)
			probe_rows_add_entries(&walk, unit, true);
		probe_rows_add_statements(&walk, unit);
		probe_rows_add_entries(&walk, unit, false);
	}
	map_u64_deinit(&walk.seen);
	free(walk.is_wanted);
	return walk.out_of_memory ? error_nomem(err) : TALLY_OK;
}

bool probe_row_at(struct probe_functions *functions, uint64_t address, struct probe_row *row)
{
	uint32_t unit;
	struct probe_row found = {.address = address};
	if (!probe_unit_at(functions, address, &unit) || !probe_code_at(functions, unit, address, &found.code))
		return false;
	const struct dwarf_lines *lines = probe_unit_lines(functions, unit);
	const struct dwarf_line_row *covering = dwarf_lines_find(functions->units[unit].debug.lines, address);
	uint32_t file = covering ? covering->file : DWARF_NO_FILE;
	found.line = covering ? covering->line : 0;
	size_t at = 0;
	if (lines)
		LOWER_BOUND(at, lines->statements.len, middle, lines->statements.items[middle].address < address);
	if (lines && at < lines->statements.len && lines->statements.items[at].address == address) {
		file = lines->statements.items[at].file;
		found.line = lines->statements.items[at].line;
	}
	found.path = probe_unit_path(functions, unit, file);
	found.code = probe_rows_of_line(functions, found.code, file, found.line);
	*row = found;
	return true;
}

static bool probe_paths_has(const struct probe_paths *paths, const char *path)
{
	for (size_t i = 0; i < paths->items.len; i++)
		if (strcmp(paths->items.items[i], path) == 0)
			return true;
	return false;
}

enum tally_status probe_paths_find(
	struct probe_functions *functions, struct tally_str wanted, struct probe_paths *paths, struct tally_error *err)
{
	for (uint32_t unit = 0; unit < functions->unit_count; unit++) {
		const struct debug_unit *debug = &functions->units[unit].debug;
		for (uint32_t i = 0; debug->functions && i < debug->lines->files.len; i++) {
			if (!probe_rows_match_file(functions, unit, i, wanted))
				continue;
			const char *path = probe_unit_path(functions, unit, i);
			if (!probe_paths_has(paths, path) && !vec_push(&paths->items, path))
				return error_nomem(err);
		}
	}
	return TALLY_OK;
}

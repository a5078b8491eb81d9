/* SPDX-License-Identifier: Apache-2.0 */
#include "code/probing/probe_functions.h"

#include <stdlib.h>

#include "base/error.h"
#include "base/map_u64.h"
#include "base/order.h"
#include "code/demangle/demangle.h"
#include "object/dwarf/dwarf_budget.h"

#define FILE_SHIFT 48 /* Sections of debug information are much smaller than 2^48 bytes. */

struct probe_functions_builder {
	struct probe_functions *functions;
	VEC(const struct dwarf_file *) files; /* Ordered by their first units. */
	struct map_u64 by_entry; /* Maps (index in files << FILE_SHIFT | offset of an entry) to an index in roots. */
	bool out_of_memory;
};

static uint32_t probe_functions_file(struct probe_functions_builder *b, const struct dwarf_file *file)
{
	for (size_t i = b->files.len; i > 0; i--)
		if (b->files.items[i - 1] == file)
			return (uint32_t)(i - 1);
	b->out_of_memory |= !vec_push(&b->files, file);
	return (uint32_t)(b->files.len - 1);
}

static uint32_t *probe_functions_slot(
	struct probe_functions_builder *b, const struct dwarf_file *file, uint64_t entry, bool *is_new)
{
	uint64_t key = (uint64_t)probe_functions_file(b, file) << FILE_SHIFT | entry;
	uint64_t *slot = b->out_of_memory ? NULL : map_u64_at(&b->by_entry, key, is_new);
	b->out_of_memory |= !slot;
	return (uint32_t *)slot;
}

/* Returns the index in roots of the source function to which an entry belongs. An abstract entry, which several entries
 * can share, is read only once. */
static uint32_t probe_functions_root(
	struct probe_functions_builder *b, const struct debug_unit *debug, uint32_t unit, uint64_t entry)
{
	struct probe_functions *f = b->functions;
	struct dwarf_declaration d;
	dwarf_declaration_begin(&d, debug->file, entry);
	if (!dwarf_declaration_next(&d, &f->reader))
		return PROBE_NO_ROOT;
	bool is_new;
	uint64_t root;
	if (d.next_file && d.is_abstract) {
		uint64_t key = (uint64_t)probe_functions_file(b, d.next_file) << FILE_SHIFT | d.next;
		if (map_u64_find(&b->by_entry, key, &root))
			return (uint32_t)root;
	}
	const struct dwarf_file *first_file = d.next_file;
	uint64_t first = d.next;
	bool has_abstract = d.next_file && d.is_abstract;
	(void)dwarf_declaration_read(&d, &f->reader, debug->file, entry);
	uint32_t *slot = probe_functions_slot(b, d.root_file, d.root, &is_new);
	if (!slot)
		return PROBE_NO_ROOT;
	if (is_new) {
		*slot = (uint32_t)f->roots.len;
		struct probe_root made = {
			.declaration = d, .order = probe_functions_file(b, d.root_file), .unit = unit};
		b->out_of_memory |= !vec_push(&f->roots, made);
	}
	root = *slot;
	/* If the abstract entry refers to another one, it is also mapped to the root. */
	slot = has_abstract ? probe_functions_slot(b, first_file, first, &is_new) : NULL;
	if (slot && is_new)
		*slot = (uint32_t)root;
	return (uint32_t)root;
}

static void probe_functions_add_unit(struct probe_functions_builder *b, uint32_t index)
{
	struct probe_functions *f = b->functions;
	struct probe_unit *unit = &f->units[index];
	if (!debug_info_unit(f->binary->info, index, &unit->debug))
		return;
	size_t count = unit->debug.functions->functions.len;
	unit->roots = arena_array(&f->arena, uint32_t, count);
	b->out_of_memory |= !unit->roots;
	for (size_t i = 0; i < count && !b->out_of_memory; i++) {
		uint64_t entry = unit->debug.functions->functions.items[i].entry;
		uint32_t root = probe_functions_root(b, &unit->debug, index, entry);
		unit->roots[i] = root;
		if (root != PROBE_NO_ROOT && !b->out_of_memory)
			f->roots.items[root].count++;
	}
	b->out_of_memory |= f->reader.out_of_memory;
}

struct probe_functions_place { /* Sort key of a root, and its index before sorting. */
	uint64_t order, entry;
	uint32_t root;
};

static int probe_functions_by_entry(const void *a, const void *b)
{
	const struct probe_functions_place *left = a;
	const struct probe_functions_place *right = b;
	return left->order != right->order ? COMPARE(left->order, right->order) : COMPARE(left->entry, right->entry);
}

/* Sorts roots by entry, and maps old indexes to new ones in renumbered. */
static bool probe_functions_sort(struct probe_functions *f, uint32_t *renumbered)
{
	size_t count = f->roots.len;
	struct probe_functions_place *places = calloc(count ? count : 1, sizeof(*places));
	struct probe_root *sorted = calloc(count ? count : 1, sizeof(*sorted));
	bool ok = places && sorted;
	for (size_t i = 0; ok && i < count; i++)
		places[i] = (struct probe_functions_place){
			f->roots.items[i].order, f->roots.items[i].declaration.root, (uint32_t)i};
	if (ok && count > 0)
		qsort(places, count, sizeof(*places), probe_functions_by_entry);
	uint32_t first = 0;
	for (size_t i = 0; ok && i < count; i++) {
		sorted[i] = f->roots.items[places[i].root];
		renumbered[places[i].root] = (uint32_t)i;
		sorted[i].first = first;
		first += sorted[i].count;
		sorted[i].count = 0;
	}
	free(places);
	if (!ok) {
		free(sorted);
		return false;
	}
	free(f->roots.items);
	f->roots.items = sorted;
	f->roots.cap = count ? count : 1;
	return vec_reserve(&f->codes, first ? first : 1);
}

static bool probe_functions_group(struct probe_functions *f)
{
	uint32_t *renumbered = calloc(f->roots.len ? f->roots.len : 1, sizeof(*renumbered));
	bool ok = renumbered && probe_functions_sort(f, renumbered);
	for (uint32_t u = 0; ok && u < f->unit_count; u++) {
		struct probe_unit *unit = &f->units[u];
		size_t count = unit->debug.functions ? unit->debug.functions->functions.len : 0;
		for (uint32_t i = 0; i < count; i++) {
			if (unit->roots[i] == PROBE_NO_ROOT)
				continue;
			unit->roots[i] = renumbered[unit->roots[i]];
			struct probe_root *root = &f->roots.items[unit->roots[i]];
			f->codes.items[root->first + root->count++] = (struct probe_code){u, i};
			f->codes.len++;
		}
	}
	free(renumbered);
	return ok;
}

static enum tally_status probe_functions_load(struct probe_functions *f, struct tally_error *err)
{
	size_t count;
	const struct debug_unit_range *ranges = debug_info_ranges(f->binary->info, &count);
	uint64_t *addresses = calloc(count ? count : 1, sizeof(*addresses));
	uint8_t *has_code = calloc(f->unit_count ? f->unit_count : 1, 1);
	enum tally_status status = addresses && has_code ? TALLY_OK : error_nomem(err);
	for (size_t i = 0; status == TALLY_OK && i < count; i++) {
		addresses[i] = ranges[i].low;
		has_code[ranges[i].unit] = 1;
	}
	if (status == TALLY_OK)
		status = debug_info_load(f->binary->info, addresses, count, 0, err);
	struct probe_functions_builder b = {.functions = f};
	for (uint32_t i = 0; status == TALLY_OK && !b.out_of_memory && i < f->unit_count; i++) {
		probe_functions_add_unit(&b, i);
		f->unread_units += has_code[i] && !f->units[i].debug.functions;
	}
	if (status == TALLY_OK && (b.out_of_memory || !probe_functions_group(f)))
		status = error_nomem(err);
	vec_free(&b.files);
	map_u64_deinit(&b.by_entry);
	free(addresses);
	free(has_code);
	return status;
}

enum tally_status probe_functions_of(struct probe_binary *binary, struct probe_functions **out, struct tally_error *err)
{
	if (!binary->info)
		return error_set(err, TALLY_NOT_FOUND, "%s has no debug information", binary->path);
	if (binary->functions) {
		*out = binary->functions;
		return TALLY_OK;
	}
	struct probe_functions *f = calloc(1, sizeof(*f));
	if (!f)
		return error_nomem(err);
	f->binary = binary;
	arena_init(&f->arena);
	dwarf_reader_init(&f->reader);
	f->unit_count = debug_info_unit_count(binary->info);
	f->units = calloc(f->unit_count ? f->unit_count : 1, sizeof(*f->units));
	enum tally_status status = f->units ? probe_functions_load(f, err) : error_nomem(err);
	if (status != TALLY_OK) {
		probe_functions_free(f);
		return status;
	}
	*out = binary->functions = f;
	return TALLY_OK;
}

void probe_functions_free(struct probe_functions *f)
{
	if (!f)
		return;
	for (uint32_t i = 0; f->units && i < f->unit_count; i++)
		dwarf_lines_deinit(&f->units[i].lines);
	free(f->units);
	vec_free(&f->roots);
	vec_free(&f->codes);
	dwarf_reader_deinit(&f->reader);
	arena_deinit(&f->arena);
	free(f);
}

struct tally_str probe_root_name(const struct probe_root *root)
{
	return root->declaration.name.data ? root->declaration.name : root->declaration.linkage;
}

static const char *probe_root_readable(struct probe_functions *f, struct probe_root *root)
{
	struct tally_str linkage = root->declaration.linkage;
	if (root->readable || !linkage.data || linkage.len > DWARF_LONG_TEXT)
		return root->readable;
	char *name = arena_string(&f->arena, linkage.data, linkage.len);
	root->readable = name ? demangle(&f->arena, name) : NULL;
	return root->readable;
}

/* Returns the function's name within a demangled name: after the return type and before the parameters. */
static struct tally_str probe_functions_bare(const char *readable)
{
	const char *begin = readable;
	const char *at = readable;
	size_t depth = 0;
	for (; *at && (*at != '(' || depth > 0); at++) {
		if (strncmp(at, "operator", 8) == 0) {
			at += strncmp(at + 8, "()", 2) == 0 ? 10 : 8;
			at += strcspn(at, "(");
			break;
		}
		if (strncmp(at, "(anonymous namespace)", 21) == 0)
			at += 20;
		else if (*at == '<' || *at == '(')
			depth++;
		else if ((*at == '>' || *at == ')') && depth > 0)
			depth--;
		else if (*at == ' ' && depth == 0)
			begin = at + 1;
	}
	return (struct tally_str){begin, (size_t)(at - begin)};
}

/* Removes the template's arguments from the end of a name. */
static struct tally_str probe_functions_base(struct tally_str name)
{
	size_t depth = 0;
	if (name.len == 0 || name.data[name.len - 1] != '>')
		return name;
	for (size_t i = name.len; i > 1; i--) {
		depth += name.data[i - 1] == '>';
		depth -= name.data[i - 1] == '<' && depth > 0;
		if (depth == 0)
			return (struct tally_str){name.data, i - 1};
	}
	return name;
}

/* A pattern such as "Circle::area" matches the end of "shapes::Circle::area". */
static bool probe_functions_matches_end(struct tally_str pattern, struct tally_str name)
{
	return str_glob(pattern, name) || (name.len > pattern.len + 2 && str_ends_with(name, pattern) &&
						  memcmp(name.data + name.len - pattern.len - 2, "::", 2) == 0);
}

bool probe_root_matches(
	struct probe_functions *f, struct probe_root *root, struct tally_str pattern, enum probe_match match)
{
	const struct dwarf_declaration *d = &root->declaration;
	if (match == PROBE_MATCH_NAME)
		return (d->name.data && (str_equal(pattern, d->name) || str_glob(pattern, d->name))) ||
		       (d->linkage.data && str_glob(pattern, d->linkage));
	const char *arguments = d->name.data ? memchr(d->name.data, '<', d->name.len) : NULL;
	if (match == PROBE_MATCH_INSTANCE)
		return arguments && arguments > d->name.data && !str_starts_with(d->name, STR("operator")) &&
		       str_equal(pattern, (struct tally_str){d->name.data, (size_t)(arguments - d->name.data)});
	const char *readable = probe_root_readable(f, root);
	if (!readable)
		return false;
	struct tally_str bare = probe_functions_bare(readable);
	return str_glob(pattern, str_from(bare.data)) || probe_functions_matches_end(pattern, bare) ||
	       probe_functions_matches_end(pattern, probe_functions_base(bare));
}

const struct dwarf_lines *probe_unit_lines(struct probe_functions *f, uint32_t index)
{
	struct probe_unit *unit = &f->units[index];
	const struct dwarf_file *file = debug_info_file(f->binary->info);
	if (!unit->lines_are_read && dwarf_lines_read_statements(&unit->lines, &f->reader, file,
					     &file->units.items[index], NULL) != TALLY_OK)
		return NULL;
	unit->lines_are_read = true;
	return &unit->lines;
}

const char *probe_unit_path(struct probe_functions *f, uint32_t index, uint32_t number)
{
	struct probe_unit *unit = &f->units[index];
	/* The line table without statements, which may be there already, has the same files. */
	const struct dwarf_lines *lines = unit->debug.lines ? unit->debug.lines : probe_unit_lines(f, index);
	if (!lines || number >= lines->files.len)
		return NULL;
	if (!unit->paths) {
		unit->paths = arena_array(&f->arena, const char *, lines->files.len);
		if (!unit->paths)
			return NULL;
		memset(unit->paths, 0, lines->files.len * sizeof(*unit->paths));
	}
	if (!unit->paths[number])
		unit->paths[number] = dwarf_lines_path(lines, number, &f->arena);
	return unit->paths[number];
}

static const char *probe_functions_path(struct probe_functions *f, const struct probe_root *root)
{
	const struct dwarf_declaration *d = &root->declaration;
	const struct dwarf_file *program = debug_info_file(f->binary->info);
	if (!d->path_file || d->path > UINT32_MAX)
		return NULL;
	if (d->path_file == program) {
		size_t index = (size_t)(d->path_unit - program->units.items);
		return index < program->units.len ? probe_unit_path(f, (uint32_t)index, (uint32_t)d->path) : NULL;
	}
	if (d->path_file->is_split) /* The line table of a split unit is in its skeleton unit. */
		return probe_unit_path(f, root->unit, (uint32_t)d->path);
	struct dwarf_lines lines; /* Line table in dwz's common file. */
	if (dwarf_lines_read(&lines, &f->reader, d->path_file, d->path_unit, NULL) != TALLY_OK)
		return NULL;
	const char *path = dwarf_lines_path(&lines, (uint32_t)d->path, &f->arena);
	dwarf_lines_deinit(&lines);
	return path;
}

const char *probe_root_path(struct probe_functions *f, struct probe_root *root)
{
	if (!root->path_is_known)
		root->path = probe_functions_path(f, root);
	root->path_is_known = true;
	return root->path;
}

static const struct dwarf_function *probe_code_function(const struct probe_functions *f, struct probe_code code)
{
	return &f->units[code.unit].debug.functions->functions.items[code.function];
}

bool probe_code_caller(const struct probe_functions *f, struct probe_code code, struct probe_code *caller)
{
	uint32_t function = probe_code_function(f, code)->caller;
	if (function == DWARF_NO_FUNCTION)
		return false;
	*caller = (struct probe_code){code.unit, function};
	return true;
}

struct probe_code probe_code_outer(const struct probe_functions *f, struct probe_code code)
{
	while (probe_code_caller(f, code, &code))
		;
	return code;
}

uint32_t probe_code_root(const struct probe_functions *f, struct probe_code code)
{
	return f->units[code.unit].roots[code.function];
}

bool probe_code_is_continued(const struct probe_functions *f, struct probe_code code)
{
	struct probe_code caller;
	uint32_t root = probe_code_root(f, code);
	return root != PROBE_NO_ROOT && probe_code_caller(f, code, &caller) && probe_code_root(f, caller) == root &&
	       probe_code_function(f, code)->call_line == f->roots.items[root].declaration.line;
}

bool probe_code_entry(struct probe_functions *f, struct probe_code code, uint64_t *address)
{
	const struct debug_unit *debug = &f->units[code.unit].debug;
	return dwarf_function_entered(
		&f->reader, debug->file, debug->unit, probe_code_function(f, code)->entry, address);
}

bool probe_code_covers(const struct probe_functions *f, struct probe_code code, uint64_t address)
{
	return dwarf_functions_range(f->units[code.unit].debug.functions, code.function, address) != NULL;
}

bool probe_code_at(const struct probe_functions *f, uint32_t unit, uint64_t address, struct probe_code *code)
{
	const struct dwarf_functions *functions = f->units[unit].debug.functions;
	uint32_t function = functions ? dwarf_functions_find(functions, address) : DWARF_NO_FUNCTION;
	if (function == DWARF_NO_FUNCTION)
		return false;
	*code = (struct probe_code){unit, function};
	return true;
}

bool probe_unit_at(const struct probe_functions *f, uint64_t address, uint32_t *unit)
{
	size_t count;
	const struct debug_unit_range *ranges = debug_info_ranges(f->binary->info, &count);
	size_t low;
	LOWER_BOUND(low, count, middle, ranges[middle].low <= address);
	uint32_t i = low ? (uint32_t)(low - 1) : UINT32_MAX;
	for (unsigned step = 0; i != UINT32_MAX && step < DWARF_OVERLAPPING_RANGES; i = ranges[i].enclosing, step++) {
		if (address < ranges[i].high) {
			*unit = ranges[i].unit;
			return true;
		}
	}
	return false;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "object/elf/go_lines.h"

#include "base/cursor.h"

#define ENTRY_BYTES_1_16 20
#define ENTRY_BYTES_1_20 16
/* Maximum number of steps through tables by address for one lookup; a large function has thousands of rows. */
#define GO_LINES_STEPS_MAX (1u << 20)

struct go_lines_search {
	const struct go_lines *lines;
	const struct go_header *header;
	struct go_record function;
	uint32_t steps; /* Number of steps that are left. */
};

/* Finds the function that contains the place, an address or, since Go 1.18, a distance from the text's beginning. */
static bool find_item(struct go_lines_search *search, uint64_t place, uint64_t *description)
{
	uint64_t low = 0, high = search->header->function_count, start, other;
	while (low < high) {
		uint64_t middle = low + (high - low) / 2;
		if (!go_list_item(search->header, middle, &start, &other))
			return false;
		if (start <= place)
			low = middle + 1;
		else
			high = middle;
	}
	uint64_t next, unused;
	if (low == 0 || !go_list_item(search->header, low - 1, &start, description) ||
		!go_list_item(search->header, low, &next, &unused) || place >= next)
		return false;
	search->function.start = start;
	search->function.size = next - start;
	return true;
}

/* Returns the value that a table by address (Go's pcvalue table) has for the code at a distance in bytes from the
 * function's beginning; -1 if there is none. */
static int64_t value_at(struct go_lines_search *search, uint32_t table, uint64_t distance)
{
	struct go_values values = go_values_begin(search->header, table);
	if (table == 0)
		return -1;
	for (; search->steps > 0 && go_values_next(&values); search->steps--)
		if (distance < values.end)
			return values.value;
	return -1;
}

static const char *path_at(struct go_lines_search *search, uint64_t distance)
{
	const struct go_header *header = search->header;
	int64_t file = value_at(search, search->function.files, distance);
	if (file < 0)
		return NULL;
	/* The index in the list of path offsets is relative to the unit since Go 1.16; before, it is the file's
	 * number. */
	bool by_unit = header->format >= GO_FORMAT_1_16;
	uint64_t index = (uint64_t)file + (by_unit ? search->function.unit : 0);
	struct cursor c = go_header_cursor(header, by_unit ? header->units : header->files);
	if (!cursor_count(&c, index, sizeof(uint32_t)))
		return NULL;
	cursor_skip(&c, (size_t)index * sizeof(uint32_t));
	uint32_t offset = cursor_u32(&c);
	return c.failed || offset == GO_NO_OFFSET ? NULL : go_header_text(header, by_unit ? header->files : 0, offset);
}

static void set_place(
	struct go_lines_search *search, uint64_t distance, uint32_t name, bool is_inlined, struct go_place *place)
{
	int64_t line = value_at(search, search->function.lines, distance);
	*place = (struct go_place){.function = go_header_text(search->header, search->header->names, name),
		.path = path_at(search, distance),
		.line = line > 0 ? (uint32_t)line : 0,
		.is_inlined = is_inlined};
}

static struct tally_bytes inlining_tree(const struct go_lines_search *search)
{
	uint64_t tree = search->function.tree;
	struct tally_bytes none = {NULL, 0}, all = search->lines->trees;
	if (tree == GO_NO_OFFSET)
		return none;
	if (search->header->format == GO_FORMAT_1_16 && search->lines->image)
		return go_program_bytes(search->lines->image, tree);
	return tree < all.len ? bytes_part(all, (size_t)tree, all.len) : none;
}

/* Reads an inlined call: the name of the called function, and the distance of the call from the function's
 * beginning. */
static bool read_inlined(
	const struct go_lines_search *search, struct tally_bytes tree, uint64_t index, uint32_t *name, uint64_t *call)
{
	bool is_short = search->header->format >= GO_FORMAT_1_20;
	uint64_t at = index * (is_short ? ENTRY_BYTES_1_20 : ENTRY_BYTES_1_16);
	if (at > tree.len)
		return false;
	struct cursor c = cursor_make(tree, search->header->swap);
	cursor_skip(&c, (size_t)at);
	cursor_skip(&c, is_short ? 4 : 12); /* Skips the kind and, before Go 1.20, parent, file and line. */
	*name = cursor_u32(&c);
	*call = cursor_u32(&c);
	return !c.failed && *call < search->function.size;
}

size_t go_lines_find(const struct go_lines *lines, uint64_t vaddr, struct go_place *places, size_t max)
{
	struct go_lines_search search = {.lines = lines, .header = &lines->program.header, .steps = GO_LINES_STEPS_MAX};
	uint64_t base = go_header_is_relative(search.header) ? lines->program.text : 0, description;
	if (vaddr < base || !find_item(&search, vaddr - base, &description) ||
		!go_record_read(search.header, description, &search.function))
		return 0;
	uint64_t distance = vaddr - base - search.function.start;
	struct tally_bytes tree = inlining_tree(&search);
	size_t count = 0;
	while (tree.len > 0 && count + 1 < max && search.steps > 0) {
		uint32_t name;
		uint64_t call;
		int64_t index = value_at(&search, search.function.inline_index, distance);
		if (index < 0 || !read_inlined(&search, tree, (uint64_t)index, &name, &call))
			break;
		set_place(&search, distance, name, true, &places[count++]);
		distance = call;
	}
	if (count < max)
		set_place(&search, distance, search.function.name, false, &places[count++]);
	return count;
}

enum tally_status go_lines_open(const struct elf_image *image, struct go_lines *lines, struct tally_error *err)
{
	struct go_lines opened = {.image = image};
	enum tally_status status = go_program_find(image, &opened.program, err);
	if (status != TALLY_OK)
		return status;
	if (opened.program.function_data)
		opened.trees = go_program_bytes(image, opened.program.function_data);
	*lines = opened;
	return TALLY_OK;
}

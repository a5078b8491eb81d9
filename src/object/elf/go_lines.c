/* SPDX-License-Identifier: Apache-2.0 */
#include "object/elf/go_lines.h"

#include "base/cursor.h"

#define INLINE_INDEX	 2 /* which table by address has the index in the inlining tree */
#define INLINE_TREE	 3 /* which data of a function is its inlining tree */
#define ENTRY_BYTES_1_16 20
#define ENTRY_BYTES_1_20 16
#define STEPS_MAX	 (1u << 20) /* through tables by address, for one address: a large function has thousands */
#define NO_OFFSET	 UINT32_MAX

struct go_function_record {
	uint64_t start, size; /* start as the list has it */
	uint32_t name, files, lines; /* files, lines: tables by address */
	uint32_t unit; /* first of its files, in the list of files by unit */
	uint32_t inline_index; /* table by address; 0 none */
	uint64_t tree; /* of inlined calls: offset, or address in Go 1.16 and 1.17; NO_OFFSET none */
};

struct go_lines_search {
	const struct go_lines *lines;
	const struct go_header *header;
	struct go_function_record function;
	uint32_t steps; /* left */
};

static uint64_t go_lines_word(struct cursor *c, uint8_t bytes)
{
	return bytes == 8 ? cursor_u64(c) : cursor_u32(c);
}

static struct cursor cursor_at(struct tally_bytes bytes, bool swap, uint64_t at)
{
	struct cursor c = cursor_make(bytes, swap);
	cursor_skip(&c, (size_t)at);
	return c;
}

/* Item of the functions' list; the one behind the last has only the end of the text. False: it is outside. */
static bool list_item(const struct go_header *header, uint64_t index, uint64_t *start, uint64_t *description)
{
	struct cursor c = cursor_at(header->table, header->swap, header->functions);
	if (!cursor_count(&c, index, 2u * header->place))
		return false;
	cursor_skip(&c, (size_t)index * 2u * header->place);
	*start = go_lines_word(&c, header->place);
	bool has_start = !c.failed;
	*description = go_lines_word(&c, header->place);
	return has_start;
}

/* The last function that begins at or before the place. */
static bool find_item(struct go_lines_search *search, uint64_t place, uint64_t *description)
{
	uint64_t low = 0, high = search->header->function_count, start, other;
	while (low < high) {
		uint64_t middle = low + (high - low) / 2;
		if (!list_item(search->header, middle, &start, &other))
			return false;
		if (start <= place)
			low = middle + 1;
		else
			high = middle;
	}
	uint64_t next, unused;
	if (low == 0 || !list_item(search->header, low - 1, &start, description) ||
		!list_item(search->header, low, &next, &unused) || place >= next)
		return false;
	search->function.start = start;
	search->function.size = next - start;
	return true;
}

static void read_tree_place(struct go_lines_search *search, struct cursor *c, uint8_t data_count)
{
	const struct go_header *header = search->header;
	bool is_address = header->format == GO_FORMAT_1_16;
	uint8_t bytes = is_address ? header->word : sizeof(uint32_t);
	if (is_address && c->pos % header->word)
		cursor_skip(c, header->word - c->pos % header->word);
	cursor_skip(c, (size_t)INLINE_TREE * bytes);
	uint64_t tree = go_lines_word(c, bytes);
	if (data_count > INLINE_TREE && !c->failed && !(is_address && tree == 0))
		search->function.tree = tree;
}

static bool read_record(struct go_lines_search *search, uint64_t description)
{
	const struct go_header *header = search->header;
	struct go_function_record *function = &search->function;
	uint64_t from = header->format == GO_FORMAT_1_2 ? 0 : header->functions;
	if (from > header->table.len || description > header->table.len - from)
		return false;
	struct cursor c = cursor_at(header->table, header->swap, from + description);
	cursor_skip(&c, header->place); /* where it begins */
	function->name = cursor_u32(&c);
	cursor_skip(&c, 3 * sizeof(uint32_t)); /* arguments, deferred calls, stack pointers by address */
	function->files = cursor_u32(&c);
	function->lines = cursor_u32(&c);
	uint32_t table_count = cursor_u32(&c);
	function->unit = header->format >= GO_FORMAT_1_16 ? cursor_u32(&c) : 0;
	if (header->format >= GO_FORMAT_1_20)
		cursor_skip(&c, sizeof(uint32_t)); /* first line */
	cursor_skip(&c, 3); /* kind, flags */
	uint8_t data_count = cursor_u8(&c);
	function->tree = NO_OFFSET;
	bool is_whole = !c.failed;
	if (header->format == GO_FORMAT_1_2 || !cursor_count(&c, table_count, sizeof(uint32_t)))
		return is_whole; /* where inlined calls are differs between the versions of Go 1.2's format */
	struct cursor tables = c;
	cursor_skip(&tables, INLINE_INDEX * sizeof(uint32_t));
	function->inline_index = table_count > INLINE_INDEX ? cursor_u32(&tables) : 0;
	cursor_skip(&c, (size_t)table_count * sizeof(uint32_t));
	read_tree_place(search, &c, data_count);
	return is_whole;
}

/* As in protocol buffers. */
static uint32_t varint(struct cursor *c)
{
	uint32_t value = 0;
	for (unsigned shift = 0; shift < 32; shift += 7) {
		uint8_t byte = cursor_u8(c);
		value |= (uint32_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return value;
	}
	c->failed = true;
	return 0;
}

/* The value that a table by address has at a distance from the function's begin; -1: none. */
static int64_t value_at(struct go_lines_search *search, uint32_t table, uint64_t distance)
{
	const struct go_header *header = search->header;
	struct cursor c = cursor_at(header->table, header->swap, header->values);
	cursor_skip(&c, table);
	int32_t value = -1;
	uint64_t end = 0;
	if (table == 0)
		return -1;
	for (bool is_first = true; search->steps > 0; search->steps--, is_first = false) {
		uint32_t change = varint(&c);
		if (change == 0 && !is_first)
			return -1;
		value = (int32_t)((uint32_t)value + (change & 1 ? ~(change >> 1) : change >> 1));
		end += (uint64_t)varint(&c) * header->quantum;
		if (c.failed)
			return -1;
		if (distance < end)
			return value;
	}
	return -1;
}

static const char *path_at(struct go_lines_search *search, uint64_t distance)
{
	const struct go_header *header = search->header;
	int64_t file = value_at(search, search->function.files, distance);
	if (file < 0)
		return NULL;
	/* The offset of a path: by unit and file, or in the first format by file. */
	bool by_unit = header->format >= GO_FORMAT_1_16;
	uint64_t index = (uint64_t)file + (by_unit ? search->function.unit : 0);
	struct cursor c = cursor_at(header->table, header->swap, by_unit ? header->units : header->files);
	if (!cursor_count(&c, index, sizeof(uint32_t)))
		return NULL;
	cursor_skip(&c, (size_t)index * sizeof(uint32_t));
	uint32_t offset = cursor_u32(&c);
	return c.failed || offset == NO_OFFSET ? NULL : go_header_text(header, by_unit ? header->files : 0, offset);
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
	if (tree == NO_OFFSET)
		return none;
	if (search->header->format == GO_FORMAT_1_16 && search->lines->image)
		return go_program_bytes(search->lines->image, tree);
	return tree < all.len ? bytes_part(all, (size_t)tree, all.len) : none;
}

/* An inlined call: the name of what was called, and code at the place of the call, by its distance from the function's
 * begin. */
static bool read_inlined(
	const struct go_lines_search *search, struct tally_bytes tree, uint64_t index, uint32_t *name, uint64_t *call)
{
	bool is_short = search->header->format >= GO_FORMAT_1_20;
	uint64_t at = index * (is_short ? ENTRY_BYTES_1_20 : ENTRY_BYTES_1_16);
	if (at > tree.len)
		return false;
	struct cursor c = cursor_at(tree, search->header->swap, at);
	cursor_skip(&c, is_short ? 4 : 12); /* kind; before Go 1.20 also parent, file and line */
	*name = cursor_u32(&c);
	*call = cursor_u32(&c);
	return !c.failed && *call < search->function.size;
}

size_t go_lines_find(const struct go_lines *lines, uint64_t vaddr, struct go_place *places, size_t max)
{
	struct go_lines_search search = {.lines = lines, .header = &lines->program.header, .steps = STEPS_MAX};
	uint64_t base = go_header_is_relative(search.header) ? lines->program.text : 0, description;
	if (vaddr < base || !find_item(&search, vaddr - base, &description) || !read_record(&search, description))
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

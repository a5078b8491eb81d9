/* SPDX-License-Identifier: Apache-2.0 */
/*
 * go_record.c - reads the description of one function in Go's function table, and its tables of values by address.
 */
#include "base/leb128.h"
#include "object/elf/go_internal.h"

#define INLINE_INDEX 2 /* Index of the table by address with indexes in the inlining tree (PCDATA_InlTreeIndex). */
#define INLINE_TREE  3 /* Index of the function data with the inlining tree (FUNCDATA_InlTree). */

static uint64_t go_record_word(struct cursor *c, uint8_t bytes)
{
	return bytes == 8 ? cursor_u64(c) : cursor_u32(c);
}

bool go_list_item(const struct go_header *header, uint64_t index, uint64_t *start, uint64_t *description)
{
	struct cursor c = go_header_cursor(header, header->functions);
	if (!cursor_count(&c, index, 2u * header->place))
		return false;
	cursor_skip(&c, (size_t)index * 2u * header->place);
	*start = go_record_word(&c, header->place);
	bool has_start = !c.failed;
	*description = go_record_word(&c, header->place);
	return has_start;
}

static void read_tree_place(
	const struct go_header *header, struct cursor *c, uint8_t data_count, struct go_record *record)
{
	bool is_address = header->format == GO_FORMAT_1_16;
	uint8_t bytes = is_address ? header->word : sizeof(uint32_t);
	if (is_address && c->pos % header->word)
		cursor_skip(c, header->word - c->pos % header->word);
	cursor_skip(c, (size_t)INLINE_TREE * bytes);
	uint64_t tree = go_record_word(c, bytes);
	if (data_count > INLINE_TREE && !c->failed && !(is_address && tree == 0))
		record->tree = tree;
}

bool go_record_read(const struct go_header *header, uint64_t description, struct go_record *record)
{
	uint64_t from = header->format == GO_FORMAT_1_2 ? 0 : header->functions;
	if (from > header->table.len || description > header->table.len - from)
		return false;
	struct cursor c = go_header_cursor(header, from + description);
	cursor_skip(&c, header->place); /* Skips the start of the function. */
	record->name = cursor_u32(&c);
	cursor_skip(&c, 2 * sizeof(uint32_t)); /* Skips the size of arguments and the deferred calls. */
	record->stack = cursor_u32(&c);
	record->files = cursor_u32(&c);
	record->lines = cursor_u32(&c);
	uint32_t table_count = cursor_u32(&c);
	record->unit = header->format >= GO_FORMAT_1_16 ? cursor_u32(&c) : 0;
	if (header->format >= GO_FORMAT_1_20)
		cursor_skip(&c, sizeof(uint32_t)); /* Skips the first line. */
	cursor_skip(&c, 1); /* Skips the kind of function. */
	uint8_t flags = cursor_u8(&c);
	record->flags = header->format >= GO_FORMAT_1_16 ? flags : 0;
	cursor_skip(&c, 1);
	uint8_t data_count = cursor_u8(&c);
	record->tree = GO_NO_OFFSET;
	record->inline_index = 0;
	bool is_whole = !c.failed;
	if (header->format == GO_FORMAT_1_2 || !cursor_count(&c, table_count, sizeof(uint32_t)))
		/* In the format of Go 1.2, the position of inlined calls differs between versions of Go. */
		return is_whole;
	struct cursor tables = c;
	cursor_skip(&tables, INLINE_INDEX * sizeof(uint32_t));
	record->inline_index = table_count > INLINE_INDEX ? cursor_u32(&tables) : 0;
	cursor_skip(&c, (size_t)table_count * sizeof(uint32_t));
	read_tree_place(header, &c, data_count, record);
	return is_whole;
}

struct go_values go_values_begin(const struct go_header *header, uint32_t table)
{
	struct go_values values = {.c = go_header_cursor(header, header->values),
		.quantum = header->quantum,
		.is_first = true,
		.value = -1};
	cursor_skip(&values.c, table);
	return values;
}

/* Values above 32 bits indicate damage. */
static uint32_t go_record_varint(struct cursor *c)
{
	uint64_t value = cursor_uleb(c);
	c->failed |= value > UINT32_MAX;
	return (uint32_t)value;
}

bool go_values_next(struct go_values *values)
{
	uint32_t change = go_record_varint(&values->c);
	if (change == 0 && !values->is_first)
		return false;
	values->is_first = false;
	values->value = (int32_t)((uint32_t)values->value + (change & 1 ? ~(change >> 1) : change >> 1));
	values->end += (uint64_t)go_record_varint(&values->c) * values->quantum;
	return !values->c.failed;
}

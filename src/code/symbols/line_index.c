/* SPDX-License-Identifier: Apache-2.0 */
#include "code/symbols/line_index.h"

#include <stdlib.h>
#include <string.h>

#include "base/checksum.h"
#include "base/limits.h"
#include "base/order.h"
#include "code/symbols/line_index_form.h"

static bool header_is_good(const struct line_index_header *header, size_t len, const struct elf_build_id *id)
{
	if (memcmp(header->magic, LINE_INDEX_MAGIC, sizeof(header->magic)) != 0 ||
		header->version != LINE_INDEX_VERSION || header->byte_order != LINE_INDEX_BYTE_ORDER)
		return false;
	if (id->size == 0 || header->id_size != id->size || memcmp(header->id, id->bytes, id->size) != 0)
		return false;
	uint64_t tables = header->range_count * (uint64_t)sizeof(struct line_index_range) +
			  header->unit_count * (uint64_t)sizeof(struct line_index_unit) + header->source_bytes;
	return header->source_bytes > 0 && header->file_bytes == len && tables <= len - sizeof(*header);
}

static bool tables_are_good(const struct line_index *index, size_t tables_end)
{
	for (uint32_t i = 0; i < index->range_count; i++) {
		const struct line_index_range *range = &index->ranges[i];
		if (range->unit >= index->unit_count || (i > 0 && range->low < range[-1].low) ||
			(range->enclosing != LINE_INDEX_NONE && range->enclosing >= i))
			return false;
	}
	for (uint32_t i = 0; i < index->unit_count; i++) {
		const struct line_index_unit *unit = &index->units[i];
		if (unit->bytes > 0 && (unit->offset < tables_end || unit->offset % 8 != 0 ||
					       unit->bytes > index->bytes.len - unit->offset))
			return false;
	}
	return true;
}

bool line_index_open(struct line_index *index, struct tally_bytes bytes, const struct elf_build_id *id)
{
	struct line_index_header header;
	*index = (struct line_index){0};
	if (bytes.len < sizeof(header) || (uintptr_t)bytes.data % 8 != 0)
		return false;
	memcpy(&header, bytes.data, sizeof(header));
	if (!header_is_good(&header, bytes.len, id))
		return false;
	const uint8_t *at = bytes.data + sizeof(header);
	struct line_index opened = {.bytes = bytes,
		.range_count = header.range_count,
		.unit_count = header.unit_count,
		.program = header.program,
		.file = header.file};
	opened.ranges = (const struct line_index_range *)(const void *)at;
	at += opened.range_count * sizeof(*opened.ranges);
	opened.units = (const struct line_index_unit *)(const void *)at;
	at += opened.unit_count * sizeof(*opened.units);
	opened.source = (const char *)at;
	at += header.source_bytes;
	const uint8_t *covered = bytes.data + LINE_INDEX_SUMMED_FROM;
	if (at[-1] != '\0' ||
		checksum_crc32((struct tally_bytes){covered, (size_t)(at - covered)}) != header.checksum ||
		!tables_are_good(&opened, (size_t)(at - bytes.data)))
		return false;
	opened.checked = calloc(opened.unit_count ? opened.unit_count : 1, 1);
	if (!opened.checked)
		return false;
	*index = opened;
	return true;
}

void line_index_deinit(struct line_index *index)
{
	free(index->checked);
	*index = (struct line_index){0};
}

#define NO_UNIT UINT32_MAX
/* Maximum number of ranges that are searched for one address; debug_info has the same limit. */
#define LINE_INDEX_OVERLAPPING 1024

/* Finds the last range that begins at or below the address and covers it, as debug_info does. */
static uint32_t line_index_unit_at(const struct line_index *index, uint64_t address)
{
	size_t low;
	LOWER_BOUND(low, index->range_count, middle, index->ranges[middle].low <= address);
	uint32_t i = low ? (uint32_t)(low - 1) : LINE_INDEX_NONE;
	for (unsigned step = 0; i != LINE_INDEX_NONE && step < LINE_INDEX_OVERLAPPING;
		i = index->ranges[i].enclosing, step++)
		if (address < index->ranges[i].high)
			return index->ranges[i].unit;
	return NO_UNIT;
}

/* The parts of a unit's block, borrowed from the index; block_is_good checks that they fit. */
struct line_index_loaded_block {
	const struct line_index_block *head;
	const struct line_index_row *rows;
	const struct line_index_function *functions;
	const struct line_index_code *codes;
	const uint32_t *files;
	const char *strings;
};

static struct line_index_loaded_block block_of(const struct line_index *index, uint32_t unit)
{
	struct line_index_loaded_block b;
	const uint8_t *at = index->bytes.data + index->units[unit].offset;
	b.head = (const struct line_index_block *)(const void *)at;
	b.rows = (const struct line_index_row *)(const void *)(b.head + 1);
	b.functions = (const struct line_index_function *)(const void *)(b.rows + b.head->row_count);
	b.codes = (const struct line_index_code *)(const void *)(b.functions + b.head->function_count);
	b.files = (const uint32_t *)(const void *)(b.codes + b.head->code_count);
	b.strings = (const char *)(b.files + b.head->file_count);
	return b;
}

static bool entries_are_good(const struct line_index_loaded_block *b)
{
	const struct line_index_block *head = b->head;
	for (uint32_t i = 0; i < head->function_count; i++)
		if (b->functions[i].name >= head->string_bytes ||
			/* Callers have lower indexes, so a chain of callers ends. */
			(b->functions[i].caller != LINE_INDEX_NONE && b->functions[i].caller >= i))
			return false;
	for (uint32_t i = 0; i < head->code_count; i++)
		if (b->codes[i].function >= head->function_count ||
			(b->codes[i].enclosing != LINE_INDEX_NONE && b->codes[i].enclosing >= i))
			return false;
	for (uint32_t i = 0; i < head->file_count; i++)
		if (b->files[i] >= head->string_bytes)
			return false;
	return true;
}

static bool block_is_good(const struct line_index *index, uint32_t unit)
{
	const struct line_index_unit *entry = &index->units[unit];
	if (entry->bytes < sizeof(struct line_index_block))
		return false;
	if (checksum_crc32((struct tally_bytes){index->bytes.data + entry->offset, entry->bytes}) != entry->checksum)
		return false;
	const struct line_index_block *head = block_of(index, unit).head;
	uint64_t bytes = sizeof(*head) + head->row_count * (uint64_t)sizeof(struct line_index_row) +
			 head->function_count * (uint64_t)sizeof(struct line_index_function) +
			 head->code_count * (uint64_t)sizeof(struct line_index_code) +
			 head->file_count * (uint64_t)sizeof(uint32_t) + head->string_bytes;
	if (bytes > entry->bytes || head->string_bytes == 0)
		return false;
	struct line_index_loaded_block b = block_of(index, unit);
	return b.strings[0] == '\0' && b.strings[head->string_bytes - 1] == '\0' && entries_are_good(&b);
}

bool line_index_has_unit(struct line_index *index, uint32_t unit)
{
	if (unit >= index->unit_count || index->units[unit].bytes == 0)
		return false;
	if (index->checked[unit] == 0)
		index->checked[unit] = block_is_good(index, unit) ? LINE_INDEX_GOOD : LINE_INDEX_BAD;
	return index->checked[unit] == LINE_INDEX_GOOD;
}

bool line_index_has(struct line_index *index, uint64_t address)
{
	if (index->bytes.len == 0)
		return false;
	uint32_t unit = line_index_unit_at(index, address);
	return unit == NO_UNIT || line_index_has_unit(index, unit);
}

/* Returns NULL if no row covers the offset. */
static const struct line_index_row *line_index_find_row(const struct line_index_loaded_block *b, uint64_t offset)
{
	size_t low;
	LOWER_BOUND(low, b->head->row_count, middle, b->rows[middle].offset <= offset);
	return low > 0 && b->rows[low - 1].file != LINE_INDEX_END ? &b->rows[low - 1] : NULL;
}

static uint32_t line_index_find_function(const struct line_index_loaded_block *b, uint64_t offset)
{
	size_t low;
	LOWER_BOUND(low, b->head->code_count, middle, b->codes[middle].low <= offset);
	for (uint32_t i = low ? (uint32_t)(low - 1) : LINE_INDEX_NONE; i != LINE_INDEX_NONE; i = b->codes[i].enclosing)
		if (offset < b->codes[i].high)
			return b->codes[i].function;
	return LINE_INDEX_NONE;
}

static const char *line_index_string_at(const struct line_index_loaded_block *b, uint32_t offset)
{
	return offset ? b->strings + offset : NULL;
}

static const char *line_index_path_of(const struct line_index_loaded_block *b, uint32_t file)
{
	return file < b->head->file_count ? line_index_string_at(b, b->files[file]) : NULL;
}

size_t line_index_find(const struct line_index *index, uint64_t address, struct source_place *places, size_t max)
{
	uint32_t unit = line_index_unit_at(index, address);
	size_t count = 0;
	if (unit == NO_UNIT || index->checked[unit] != LINE_INDEX_GOOD || max == 0)
		return 0;
	struct line_index_loaded_block b = block_of(index, unit);
	uint64_t offset = address - b.head->base;
	const struct line_index_row *row = line_index_find_row(&b, offset);
	struct source_place place = {0};
	if (row)
		place = (struct source_place){.path = line_index_path_of(&b, row->file),
			.line = row->line,
			.discriminator = row->discriminator};
	uint32_t f = line_index_find_function(&b, offset);
	while (f != LINE_INDEX_NONE && count < max && count < LIMIT_INLINE_DEPTH) {
		const struct line_index_function *function = &b.functions[f];
		place.function = line_index_string_at(&b, function->name);
		place.is_inlined = function->caller != LINE_INDEX_NONE;
		places[count++] = place;
		place.path = function->call_line ? line_index_path_of(&b, function->call_file) : NULL;
		place.line = function->call_line;
		place.discriminator = 0;
		f = function->caller;
	}
	if (count == 0 && row)
		places[count++] = place;
	return count;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "bpf/python_code.h"

#include "base/array.h"
#include "base/cursor.h"

#define LINE_MOST 10000000 /* Greater line numbers are considered invalid: no file has so many. */

void python_code_text(struct writer *w, const struct python_text *text)
{
	struct cursor c = cursor_make((struct tally_bytes){text->data, PYTHON_TEXT - 1}, false);
	for (uint32_t i = 0; i < text->length; i++) {
		uint32_t character = text->bytes_each == 1   ? cursor_u8(&c)
				     : text->bytes_each == 2 ? cursor_u16(&c)
							     : cursor_u32(&c);
		if (c.failed)
			return;
		bool is_printable = character >= 0x20 && character != 0x7f &&
				    (character < 0xd800 || character >= 0xe000) && character <= 0x10ffff;
		uint8_t bytes[4];
		writer_bytes(w, bytes, utf8_put(is_printable ? character : '?', bytes));
	}
}

struct tally_bytes python_code_lines(const struct python_code *code)
{
	return (struct tally_bytes){code->lines, MIN(code->lines_size, PYTHON_LINES - 1)};
}

/* A varint of CPython's location table has six bits in each byte, the lowest first. */
static uint32_t python_code_varint(struct cursor *c)
{
	uint32_t value = 0;
	for (unsigned shift = 0; shift < 30; shift += 6) {
		uint8_t byte = cursor_u8(c);
		value |= (uint32_t)(byte & 0x3f) << shift;
		if (!(byte & 0x40))
			break;
	}
	return value;
}

static int64_t python_code_signed(struct cursor *c)
{
	uint32_t value = python_code_varint(c);
	return value & 1 ? -(int64_t)(value >> 1) : (int64_t)(value >> 1);
}

enum { LOCATION_SHORT_LAST = 9, LOCATION_ONE_LINE = 10, LOCATION_NO_COLUMNS = 13, LOCATION_LONG, LOCATION_NONE };

struct python_code_entry { /* An entry of the location table. */
	uint32_t units; /* Length in code units. */
	int64_t line; /* 0 if the entry has no line. */
};

/* Reads the next entry and advances the current line; false at the end of the table. */
static bool python_code_next(struct cursor *c, int64_t *line, struct python_code_entry *entry)
{
	uint8_t head = cursor_u8(c), kind = head >> 3 & 15;
	entry->units = (head & 7u) + 1;
	if (c->failed)
		return false;
	if (kind <= LOCATION_SHORT_LAST) {
		cursor_skip(c, 1);
	} else if (kind < LOCATION_NO_COLUMNS) {
		*line += kind - LOCATION_ONE_LINE;
		cursor_skip(c, 2);
	} else if (kind == LOCATION_NO_COLUMNS) {
		*line += python_code_signed(c);
	} else if (kind == LOCATION_LONG) {
		*line += python_code_signed(c);
		for (int i = 0; i < 3; i++) /* Skips the last line and both columns. */
			(void)python_code_varint(c);
	}
	entry->line = kind == LOCATION_NONE || *line <= 0 || *line > LINE_MOST ? 0 : *line;
	return !c->failed;
}

uint32_t python_code_line(int32_t first_line, struct tally_bytes lines, uint32_t index)
{
	struct cursor c = cursor_make(lines, false);
	struct python_code_entry entry;
	int64_t line = first_line;
	for (uint64_t end = 0; python_code_next(&c, &line, &entry);) {
		end += entry.units;
		if (index < end)
			return (uint32_t)entry.line;
	}
	return 0;
}

uint32_t python_code_last_line(int32_t first_line, struct tally_bytes lines)
{
	struct cursor c = cursor_make(lines, false);
	struct python_code_entry entry;
	int64_t line = first_line, last = first_line > 0 && first_line <= LINE_MOST ? first_line : 1;
	while (python_code_next(&c, &line, &entry))
		last = MAX(last, entry.line);
	return (uint32_t)last;
}

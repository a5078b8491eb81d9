/* SPDX-License-Identifier: Apache-2.0 */
/*
 * line_index_form.h - defines the binary format of a line index for its reader and its builder.
 */
#ifndef CODE_SYMBOLS_LINE_INDEX_FORM_H
#define CODE_SYMBOLS_LINE_INDEX_FORM_H

#include <stddef.h>

#include "code/symbols/line_index.h"

#define LINE_INDEX_MAGIC      "tallyidx"
#define LINE_INDEX_VERSION    4
#define LINE_INDEX_BYTE_ORDER 0x01020304
#define LINE_INDEX_NONE	      UINT32_MAX
#define LINE_INDEX_END	      UINT32_C(0xfffff)

enum { LINE_INDEX_GOOD = 1, LINE_INDEX_BAD };

/* File header. It is followed by the ranges, the units and the path of the source; blocks begin at multiples of 8. */
struct line_index_header {
	char magic[8];
	uint32_t version, byte_order;
	uint32_t checksum; /* Checksum of everything that follows, up to the end of the source's path. */
	uint32_t range_count;
	uint64_t file_bytes;
	uint32_t unit_count, source_bytes;
	uint8_t id_size;
	uint8_t id[ELF_BUILD_ID_MAX];
	uint8_t zero[7 - (ELF_BUILD_ID_MAX) % 8];
	struct elf_origin program, file;
};
_Static_assert(sizeof(struct line_index_header) % 8 == 0, "what follows is aligned");
#define LINE_INDEX_SUMMED_FROM offsetof(struct line_index_header, range_count)

/* A range of a unit. The ranges are sorted by low. */
struct line_index_range {
	uint64_t low, high;
	uint32_t unit; /* Index in the table of units. */
	/* Index of the last range before this one that contains its start; LINE_INDEX_NONE if none. */
	uint32_t enclosing;
};

/* An item of the table of units: the position of the unit's block. */
struct line_index_unit {
	uint64_t offset; /* Offset of the block in the file. */
	uint32_t bytes; /* 0 if the unit has not been needed yet. */
	uint32_t checksum;
};

/* Header of a unit's block. It is followed by rows, functions, codes, files and strings. */
struct line_index_block {
	uint64_t base; /* Address to which offsets are relative. */
	uint32_t row_count, function_count, code_count, file_count, string_bytes, zero;
};

/* A source line, which is valid from its offset up to that of the next row. */
struct line_index_row {
	uint32_t offset; /* Relative to base of the block. */
	uint32_t file : 20; /* File number; LINE_INDEX_END if code ends at this offset. */
	uint32_t discriminator : 12;
	uint32_t line;
};

/* A function, or an inlined call of one. */
struct line_index_function {
	uint32_t name; /* Offset in the strings; 0 if none. */
	/* Index of the function into which it was inlined, lower than its own; LINE_INDEX_NONE if it was not
	 * inlined. */
	uint32_t caller;
	uint32_t call_file, call_line;
};

/* A range of a function. The ranges are sorted by low, outer ones first. */
struct line_index_code {
	uint32_t low, high, function; /* low and high are relative to base of the block. */
	uint32_t enclosing; /* Index of the range around this one, lower than its own; LINE_INDEX_NONE if none. */
};

/* Returns whether the index has the unit with this number, undamaged. */
bool line_index_has_unit(struct line_index *index, uint32_t unit);

#endif

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

struct line_index_header { /* then ranges, units, the source's path; blocks at multiples of 8 */
	char magic[8];
	uint32_t version, byte_order;
	uint32_t checksum; /* of all that follows up to the end of the source's path */
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

struct line_index_range { /* by low */
	uint64_t low, high;
	uint32_t unit;
	uint32_t enclosing; /* the last one before it that is open where it begins; LINE_INDEX_NONE none */
};

struct line_index_unit {
	uint64_t offset;
	uint32_t bytes; /* 0: was not needed yet */
	uint32_t checksum;
};

struct line_index_block { /* then rows, functions, codes, files, strings */
	uint64_t base; /* what offsets count from */
	uint32_t row_count, function_count, code_count, file_count, string_bytes, zero;
};

struct line_index_row {
	uint32_t offset;
	uint32_t file : 20; /* LINE_INDEX_END: code ends here */
	uint32_t discriminator : 12;
	uint32_t line;
};

struct line_index_function {
	uint32_t name; /* offset in strings; 0 none */
	uint32_t caller; /* that it was inlined into: of a lower index; LINE_INDEX_NONE: it stands on its own */
	uint32_t call_file, call_line;
};

struct line_index_code { /* by low, outer ones first */
	uint32_t low, high, function;
	uint32_t enclosing; /* of a lower index; LINE_INDEX_NONE none */
};

bool line_index_has_unit(struct line_index *index, uint32_t unit);

#endif

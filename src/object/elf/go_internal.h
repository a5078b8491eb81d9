/* SPDX-License-Identifier: Apache-2.0 */
/*
 * go_internal.h - declares what the readers of Go's function table share: its header and its functions in one form for
 * all versions, its tables of values by address, and what the program's module data says of it. Others do not include it.
 *
 * Nothing in it is trusted: offsets of the header are within the table, everything else is checked where it is used.
 */
#ifndef OBJECT_ELF_GO_INTERNAL_H
#define OBJECT_ELF_GO_INTERNAL_H

#include "base/cursor.h"
#include "object/elf/elf_image.h"

enum go_format { /* by the first version of Go that writes it */
	GO_FORMAT_1_2,
	GO_FORMAT_1_16,
	GO_FORMAT_1_18,
	GO_FORMAT_1_20,
};

struct go_header {
	struct tally_bytes table;
	bool swap;
	enum go_format format;
	uint8_t quantum; /* what differences of addresses are counted in */
	uint8_t word; /* bytes of an address */
	uint8_t place; /* bytes of where a function begins: a word, or a 32-bit distance from the text's begin */
	uint64_t function_count, text;
	uint64_t names, units, files, values, functions; /* offsets in the table; 0 where the format has none */
};

/* False: it is truncated, or its offsets lead out of it. */
bool go_header_read(struct tally_bytes table, bool swap, struct go_header *header);
/* The header's own bytes say that functions' places are distances. */
static inline bool go_header_is_relative(const struct go_header *header)
{
	return header->format >= GO_FORMAT_1_18;
}
/* Reads from an offset in the table on. */
static inline struct cursor go_header_cursor(const struct go_header *header, uint64_t at)
{
	struct cursor c = cursor_make(header->table, header->swap);
	cursor_skip(&c, (size_t)at);
	return c;
}
/* A text of the table that ends within it; NULL: there is none. */
const char *go_header_text(const struct go_header *header, uint64_t base, uint64_t offset);

#define GO_NO_OFFSET UINT32_MAX

enum go_flags { /* as of Go 1.17 */
	GO_FLAG_TOP = 1, /* it is the first function of a stack */
	GO_FLAG_WRITES_SP =
		2, /* of a kind that the table of stack pointers cannot express: it changes to another stack */
};

struct go_record { /* a function */
	uint64_t start, size; /* start as the list has it */
	uint32_t name, stack, files, lines; /* stack, files, lines: tables by address */
	uint32_t unit; /* first of its files, in the list of files by unit */
	uint32_t inline_index; /* table by address; 0 none */
	uint64_t tree; /* of inlined calls: offset, or address in Go 1.16 and 1.17; GO_NO_OFFSET none */
	uint8_t flags; /* enum go_flags */
};

/* Item of the functions' list; the one behind the last has only the end of the text. False: it is outside. */
bool go_list_item(const struct go_header *header, uint64_t index, uint64_t *start, uint64_t *description);
/* All but start and size. False: it is outside of the table. */
bool go_record_read(const struct go_header *header, uint64_t description, struct go_record *record);

struct go_values { /* a walk through a table by address */
	struct cursor c;
	uint8_t quantum;
	bool is_first;
	int32_t value; /* it holds up to the end, a distance from the function's begin */
	uint64_t end;
};

struct go_values go_values_begin(const struct go_header *header, uint32_t table);
/* False: the table has ended, or is damaged. */
bool go_values_next(struct go_values *values);

struct go_program { /* the table of one ELF file */
	struct go_header header;
	uint64_t vaddr; /* of the table */
	uint64_t text; /* what places are counted from; 0 where they are addresses */
	uint64_t function_data; /* address that inlining trees are counted from; 0: not known */
};

/* NOT_FOUND: the file has no table; CORRUPT. */
TALLY_MUST_CHECK enum tally_status go_program_find(
	const struct elf_image *image, struct go_program *program, struct tally_error *err);
/* What the file has from a link-time address to the end of its segment; len 0: nothing. */
struct tally_bytes go_program_bytes(const struct elf_image *image, uint64_t vaddr);

#endif

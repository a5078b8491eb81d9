/* SPDX-License-Identifier: Apache-2.0 */
/*
 * go_internal.h - declares what the readers of Go's function table share: its header and its functions in one form for
 * all versions, its tables of values by address, and what the program's module data contains about it. Other modules do
 * not include it.
 *
 * The table is not trusted: offsets in the header are inside the table, everything else is checked where it is used.
 */
#ifndef OBJECT_ELF_GO_INTERNAL_H
#define OBJECT_ELF_GO_INTERNAL_H

#include "base/cursor.h"
#include "object/elf/elf_image.h"

/* Format of the table, named after the first version of Go that writes it. */
enum go_format {
	GO_FORMAT_1_2,
	GO_FORMAT_1_16,
	GO_FORMAT_1_18,
	GO_FORMAT_1_20,
};

struct go_header {
	struct tally_bytes table;
	bool swap;
	enum go_format format;
	uint8_t quantum; /* Unit of address differences in bytes. */
	uint8_t word; /* Size of an address in bytes. */
	/* Size in bytes of a function's start: an address, or a 32-bit distance from the start of the text. */
	uint8_t place;
	uint64_t function_count, text;
	uint64_t names, units, files, values, functions; /* Offsets in the table; 0 if the format has none. */
};

/* Reads the header. Returns false if it is truncated, or an offset is outside of the table. */
bool go_header_read(struct tally_bytes table, bool swap, struct go_header *header);
/* Returns whether functions' starts are distances from the start of the text. */
static inline bool go_header_is_relative(const struct go_header *header)
{
	return header->format >= GO_FORMAT_1_18;
}
/* Returns a cursor at an offset in the table. */
static inline struct cursor go_header_cursor(const struct go_header *header, uint64_t at)
{
	struct cursor c = cursor_make(header->table, header->swap);
	cursor_skip(&c, (size_t)at);
	return c;
}
/* Returns a string in the table; NULL if it does not end inside the table. */
const char *go_header_text(const struct go_header *header, uint64_t base, uint64_t offset);

#define GO_NO_OFFSET UINT32_MAX

/* Flags of a function, which are written since Go 1.17. */
enum go_flags {
	GO_FLAG_TOP = 1, /* The function is the first one of a stack. */
	/* The function changes the stack pointer in a way that its table cannot express: it switches to another
	 * stack. */
	GO_FLAG_WRITES_SP = 2,
};

/* A function of the table. */
struct go_record {
	uint64_t start, size; /* start is as in the list of functions. */
	uint32_t name, stack, files, lines; /* stack, files and lines are offsets of tables by address. */
	uint32_t unit; /* Index of the unit's first file in the list of files. */
	uint32_t inline_index; /* Table by address; 0 if none. */
	uint64_t tree; /* Tree of inlined calls: an offset, or an address in Go 1.16 and 1.17; GO_NO_OFFSET if none. */
	uint8_t flags; /* enum go_flags */
};

/* Reads an item of the list of functions: the start of the function, and the description that go_record_read expects.
 * The item after the last one has only the end of the text as its start. Returns false if the item is outside of the
 * table. */
bool go_list_item(const struct go_header *header, uint64_t index, uint64_t *start, uint64_t *description);
/* Reads all members except start and size. Returns false if the record is outside of the table. */
bool go_record_read(const struct go_header *header, uint64_t description, struct go_record *record);

/* An iterator over a table of values by address. */
struct go_values {
	struct cursor c;
	uint8_t quantum;
	bool is_first;
	int32_t value; /* Current value, which is valid up to end, a distance from the function's start. */
	uint64_t end;
};

struct go_values go_values_begin(const struct go_header *header, uint32_t table);
/* Returns false if the table has ended, or is damaged. */
bool go_values_next(struct go_values *values);

/* The function table of one ELF file. */
struct go_program {
	struct go_header header;
	uint64_t vaddr; /* Link-time address of the table. */
	uint64_t text; /* Address to which functions' starts are relative; 0 if they are absolute. */
	uint64_t function_data; /* Address to which inlining trees are relative; 0 if not known. */
};

/* Finds the table. NOT_FOUND: the file has none; CORRUPT. */
TALLY_MUST_CHECK enum tally_status go_program_find(
	const struct elf_image *image, struct go_program *program, struct tally_error *err);
/* Returns the bytes of the file from a link-time address to the end of its segment; len is 0 if there are none. */
struct tally_bytes go_program_bytes(const struct elf_image *image, uint64_t vaddr);

#endif

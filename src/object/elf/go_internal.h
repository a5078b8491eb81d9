/* SPDX-License-Identifier: Apache-2.0 */
/*
 * go_internal.h - declares what the readers of Go's function table share: its header in one form for all versions, and
 * what the program's module data says of it. Others do not include it.
 *
 * Nothing in it is trusted: offsets of the header are within the table, everything else is checked where it is used.
 */
#ifndef OBJECT_ELF_GO_INTERNAL_H
#define OBJECT_ELF_GO_INTERNAL_H

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
/* A text of the table that ends within it; NULL: there is none. */
const char *go_header_text(const struct go_header *header, uint64_t base, uint64_t offset);

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

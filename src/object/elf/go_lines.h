/* SPDX-License-Identifier: Apache-2.0 */
/*
 * go_lines.h - finds source lines and inlined calls of an address in the function table of a Go program (.gopclntab),
 * which is there even if the program is stripped. Lines: as of Go 1.2; inlined calls: as of Go 1.16.
 *
 * The caller owns it as a value; names and paths are borrowed from the image, which must outlive it. Nothing is read
 * before it is asked for, and nothing is kept. Any thread may call it.
 *
 * Bad input: offsets are checked, and the work for one address has a limit; where the table is damaged, an address has
 * fewer places or none. Documents: "Go 1.2 Runtime Symbol Information", and the tables that compilers write.
 *
 *	struct go_lines lines;
 *	if (go_lines_open(image, &lines, err) == TALLY_OK) count = go_lines_find(&lines, vaddr, places, max);
 */
#ifndef OBJECT_ELF_GO_LINES_H
#define OBJECT_ELF_GO_LINES_H

#include "object/elf/elf_image.h"
#include "object/elf/go_internal.h"

struct go_lines {
	const struct elf_image *image; /* NULL: the table stands alone, and trees has all data */
	struct go_program program;
	struct tally_bytes trees; /* what inlining trees are offsets in; len 0: not known */
};

struct go_place { /* innermost first: what was inlined at an address, then the function that holds it */
	const char *function, *path; /* NULL: not said */
	uint32_t line; /* 0: not said */
	bool is_inlined;
};

/* NOT_FOUND: the image has no such table; CORRUPT. */
TALLY_MUST_CHECK enum tally_status go_lines_open(
	const struct elf_image *image, struct go_lines *lines, struct tally_error *err);
/* Of a link-time address; fills at most max places. 0: no function of the table covers it. */
size_t go_lines_find(const struct go_lines *lines, uint64_t vaddr, struct go_place *places, size_t max);

#endif

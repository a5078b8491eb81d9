/* SPDX-License-Identifier: Apache-2.0 */
/*
 * go_lines.h - finds source lines and inlined calls of an address in the function table of a Go program (.gopclntab),
 * which exists even if the program is stripped. Lines since Go 1.2, inlined calls since Go 1.16.
 *
 * struct go_lines is a plain value; names and paths are borrowed from the image, which must outlive it. Everything is
 * read on request, and nothing is cached. Any thread may call it.
 *
 * Bad input: offsets are checked, and the work for one address is limited; if the table is damaged, an address has
 * fewer places or none. Sources: "Go 1.2 Runtime Symbol Information", and the tables that compilers write.
 *
 *	struct go_lines lines;
 *	if (go_lines_open(image, &lines, err) == TALLY_OK) count = go_lines_find(&lines, vaddr, places, max);
 */
#ifndef OBJECT_ELF_GO_LINES_H
#define OBJECT_ELF_GO_LINES_H

#include "object/elf/elf_image.h"
#include "object/elf/go_internal.h"

struct go_lines {
	const struct elf_image *image; /* NULL if there is only the table; trees then contains all data. */
	struct go_program program;
	struct tally_bytes trees; /* Data to which offsets of inlining trees are relative; len is 0 if not known. */
};

/* A source location. Lists have the innermost inlined call first and the function that contains the code last. */
struct go_place {
	const char *function, *path; /* NULL if not known. */
	uint32_t line; /* 0 if not known. */
	bool is_inlined;
};

/* Finds the table of an image. NOT_FOUND: it has none; CORRUPT. */
TALLY_MUST_CHECK enum tally_status go_lines_open(
	const struct elf_image *image, struct go_lines *lines, struct tally_error *err);
/* Returns at most max places of a link-time address; 0 if no function of the table contains it. */
size_t go_lines_find(const struct go_lines *lines, uint64_t vaddr, struct go_place *places, size_t max);

#endif

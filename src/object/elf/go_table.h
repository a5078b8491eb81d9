/* SPDX-License-Identifier: Apache-2.0 */
/*
 * go_table.h - reads the function table that every Go program contains for its own tracebacks, even if it is stripped
 * (.gopclntab). It supports the formats of Go 1.2, 1.16, 1.18 and 1.20; later versions still use the last one.
 *
 * Names are borrowed from the table. The table is not trusted: counts and offsets are checked, and a function with a
 * name outside of the table is left out. Sources: "Go 1.2 Runtime Symbol Information", and the tables that compilers
 * write.
 *
 *	struct go_function_list list = {0};
 *	if (go_table_functions(bytes, swap, text, &list, err) == TALLY_OK) ...; vec_free(&list.functions);
 */
#ifndef OBJECT_ELF_GO_TABLE_H
#define OBJECT_ELF_GO_TABLE_H

#include "object/elf/elf_image.h"

struct go_function {
	uint64_t vaddr, size;
	const char *name;
};

struct go_function_list {
	VEC(struct go_function) functions; /* Sorted by address. */
};

/* Returns whether the bytes begin with a table. */
bool go_table_is(struct tally_bytes bytes, bool swap);
/* Returns the offset in the table of the address to which functions' starts are relative; 0 if they are absolute. */
size_t go_table_text_offset(struct tally_bytes table, bool swap);
/* Appends the functions of a table to the list, which the caller frees. text is the link-time address of the text, for
 * tables that contain 0 because it is set when the program is loaded. CORRUPT, NOMEM: the list has the functions before
 * the error. */
TALLY_MUST_CHECK enum tally_status go_table_functions(
	struct tally_bytes table, bool swap, uint64_t text, struct go_function_list *list, struct tally_error *err);
/* Reads the functions of a program; names are borrowed from the image. NOT_FOUND: it has no such table. */
TALLY_MUST_CHECK enum tally_status elf_image_go_functions(
	const struct elf_image *image, struct go_function_list *list, struct tally_error *err);

#endif

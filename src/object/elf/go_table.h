/* SPDX-License-Identifier: Apache-2.0 */
/*
 * go_table.h - reads the function table that every Go program contains for its own tracebacks, even if it is stripped
 * (.gopclntab). It knows the formats of Go 1.2, 1.16, 1.18 and 1.20; later versions still use the last one.
 *
 * Names are borrowed from the table. The table is not trusted: counts and offsets are checked, and a function whose
 * name is outside of it is left out. Documents: "Go 1.2 Runtime Symbol Information", and the tables that compilers
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
	VEC(struct go_function) functions; /* in order of address */
};

/* Whether the bytes begin with a table. */
bool go_table_is(struct tally_bytes bytes, bool swap);
/* The offset in the table of the address from which functions' places are counted; 0: places are addresses. */
size_t go_table_text_offset(struct tally_bytes table, bool swap);
/* text: the start of the text, for tables in which it is 0 because it is set when the program is loaded. CORRUPT,
 * NOMEM; the list has the functions before the damage. */
TALLY_MUST_CHECK enum tally_status go_table_functions(
	struct tally_bytes table, bool swap, uint64_t text, struct go_function_list *list, struct tally_error *err);
/* Of a program: NOT_FOUND if it has no such table. Names are borrowed from the image. */
TALLY_MUST_CHECK enum tally_status elf_image_go_functions(
	const struct elf_image *image, struct go_function_list *list, struct tally_error *err);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * symbol.h - describes a function or an object of a program file, and the source line of an address.
 *
 * Plain values; strings are borrowed from the file or index that returned them.
 */
#ifndef CODE_SYMBOL_H
#define CODE_SYMBOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct symbol {
	uint64_t start; /* First address: a file offset or run-time address, depending on enum binary_kind. */
	uint64_t end; /* Exclusive. */
	const char *name; /* Name as in the file; binary_store_display_name demangles it. */
	char binding; /* 'l' for local, 'g' global, 'w' weak, 'u' unique. */
	bool is_object; /* The symbol is data, according to its file. */
	/* No call instruction ends at its start, so a return address there belongs to this symbol; false if not
	 * known. */
	bool follows_no_call;
};

/* A range of addresses, both ends included, that have the same symbol. */
struct symbol_span {
	const struct symbol *symbol; /* NULL if the addresses have no symbol. */
	uint64_t first, last;
};

/* A source location. Lists have the innermost inlined call first and the function that contains the code last. */
struct source_place {
	const char *function; /* Linker name, as in the file; NULL if not known. */
	const char *path; /* Path as passed to the compiler; NULL if not known. */
	uint32_t line; /* 0 if not known. */
	uint32_t discriminator; /* Distinguishes pieces of code of the innermost line; 0 if none. */
	bool is_inlined;
};

#endif

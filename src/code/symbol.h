/* SPDX-License-Identifier: Apache-2.0 */
/*
 * symbol.h - describes a function or an object of a program file, and the source line of an address.
 *
 * Values; strings are borrowed from the file or index that gave them.
 */
#ifndef CODE_SYMBOL_H
#define CODE_SYMBOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct symbol {
	uint64_t start; /* file offset or run-time address as kind says; functions sorted, no overlap after fix-up */
	uint64_t end; /* exclusive */
	const char *name; /* as in the file: see binary_store_display_name */
	char binding; /* 'l' local, 'g' global, 'w' weak, 'u' unique */
	bool is_object; /* data, as its file says */
	bool follows_no_call; /* no call ends at its start, so a return address there is its own; false: not known */
};

struct symbol_span { /* a range of addresses with the same answer, both ends included */
	const struct symbol *symbol; /* NULL: no symbol */
	uint64_t first, last;
};

struct source_place { /* innermost first: what was inlined at an address, then the function that holds it */
	const char *function; /* the linker's name, as in the file; NULL: not said */
	const char *path; /* as the compiler knew it; NULL: not said */
	uint32_t line; /* 0: not said */
	uint32_t discriminator; /* tells code of the innermost line apart; 0: none */
	bool is_inlined;
};

#endif

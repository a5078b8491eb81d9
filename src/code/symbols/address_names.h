/* SPDX-License-Identifier: Apache-2.0 */
/*
 * address_names.h - names a link-time address by the symbol at or before it, function or data, as a disassembler shows
 * it: "<sink>", "<main+0x31>".
 *
 * Owned by the caller, zeros before the first add; names are borrowed from the images. Read-only after
 * address_names_finish: any thread. Of several names of one address it keeps a function's name, then the most widely
 * visible one (global, weak, local), then the first in alphabetical order. A slot that the dynamic linker fills, and
 * that has no symbol and no function as its last symbol before, gets the name of its later contents: at the slot only,
 * with the distance from that symbol, which may be negative. (A function would be in the section of the code that
 * refers to the slot; objdump then searches no further.) Names of dynamic symbols have their versions.
 *
 *	address_names_add(&names, image, 0);  address_names_finish(&names);
 *	const char *name = address_names_find(&names, address, &offset);
 */
#ifndef CODE_SYMBOLS_ADDRESS_NAMES_H
#define CODE_SYMBOLS_ADDRESS_NAMES_H

#include "base/arena.h"
#include "base/vec.h"
#include "object/elf/elf_image.h"

struct address_name {
	uint64_t address, size;
	const char *name;
	uint8_t rank; /* lower is better */
	bool is_plt; /* shown with "@plt" */
	bool is_code; /* a function */
};

struct address_slot {
	uint64_t address;
	struct address_name name;
	bool is_jump; /* the PLT jumps through it */
};

struct address_names {
	VEC(struct address_name) items;
	VEC(struct address_slot) slots;
	struct arena arena; /* of names that are made */
};

/* moved is added to every address. False: out of memory. */
bool address_names_add(struct address_names *names, struct elf_image *image, uint64_t moved);
/* Adds a function that is named by another table than the symbols; a function's symbol at the same address has
 * precedence. False: out of memory. */
bool address_names_add_function(struct address_names *names, uint64_t address, uint64_t size, const char *name);
/* False: out of memory; there are no names then. */
bool address_names_finish(struct address_names *names);
void address_names_deinit(struct address_names *names);
/* The address of the result may be above the requested one, for a slot. NULL: there is no name before the address. */
const struct address_name *address_names_find(const struct address_names *names, uint64_t address);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * address_names.h - names a link-time address by the symbol at or before it, function or data, as a disassembler shows
 * it: "<sink>", "<main+0x31>".
 *
 * The caller owns the names and zero-initialises them; strings are borrowed from the images. After address_names_finish
 * they are read-only: any thread. If an address has several names, a function's name is chosen, then the most widely
 * visible one (global, weak, local), then the first in alphabetical order. A slot that the dynamic linker fills gets
 * the name of its later contents if it has no symbol of its own and the last symbol before it is not a function; its
 * offset from the symbol that it will refer to may be negative. (After a function, the slot would be in the section of
 * the code that refers to it; objdump then searches no further.) Names of dynamic symbols include their versions.
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
	uint8_t rank; /* Priority among names of one address; lower is better. */
	bool is_plt; /* The name is shown with "@plt". */
	bool is_code; /* The name is of a function. */
};

struct address_slot {
	uint64_t address;
	struct address_name name;
	bool is_jump; /* The PLT jumps through the slot. */
};

struct address_names {
	VEC(struct address_name) items;
	VEC(struct address_slot) slots;
	struct arena arena; /* Holds generated names. */
};

/* Adds the names of an image; moved is added to every address. Returns false if memory runs out. */
bool address_names_add(struct address_names *names, struct elf_image *image, uint64_t moved);
/* Adds a function from a table other than the symbol table; a function symbol at the same address has precedence.
 * Returns false if memory runs out. */
bool address_names_add_function(struct address_names *names, uint64_t address, uint64_t size, const char *name);
/* Sorts the names. Returns false if memory runs out; there are no names then. */
bool address_names_finish(struct address_names *names);
void address_names_deinit(struct address_names *names);
/* Finds the name at or before an address. For a slot, the address of the result may be above the requested one. NULL:
 * there is no name before the address. */
const struct address_name *address_names_find(const struct address_names *names, uint64_t address);

#endif

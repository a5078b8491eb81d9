/*
 * address_names.h - link-time address -> the symbol at or before it, functions and data alike, as a disassembler shows
 * what code refers to: "<sink>", "<main+0x31>".
 *
 * Owned by the caller, zeros before the first add; names are borrowed from the images. Read-only after address_names_finish: any thread.
 * Of several names of one address stays: a function's, the widest known one (global, weak, local), the first by letters.
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
};

struct address_names {
	VEC(struct address_name) items;
	struct arena arena; /* of names that are made */
};

/* moved is added to every address. False: out of memory. */
bool address_names_add(struct address_names *names, struct elf_image *image, uint64_t moved);
void address_names_finish(struct address_names *names);
void address_names_deinit(struct address_names *names);
/* NULL: nothing lies before. */
const struct address_name *address_names_find(const struct address_names *names, uint64_t address);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * load_pack.h - loads an entry of the store from the symbols that are packed into a recording (code/pack/pack.h), and
 * packs an entry.
 */
#ifndef CODE_BINARIES_LOAD_PACK_H
#define CODE_BINARIES_LOAD_PACK_H

#include "code/binaries/binary_entry.h"
#include "code/pack/pack.h"

/* Loads the entry from object. Names are borrowed from the object, which belongs to the pack. */
void load_pack(
	const struct binary_store_options *options, struct binary_entry *entry, const struct pack_object *object);
/* Sets the members of object that describe the file as a whole, and its segments. Pointers are borrowed from the entry.
 * Returns false if memory runs out. */
bool load_pack_describe(const struct binary_entry *entry, struct pack_object *object);
/* Returns at most max places of an address; 0 if it has none. */
size_t load_pack_places(const struct pack_object *object, uint64_t address, struct source_place *places, size_t max);
/* Returns whether it is known for all of these addresses which places they have. */
bool load_pack_has_places(const struct pack_object *object, const uint64_t *addresses, size_t count);
/* Converts a file offset to a link-time address. Returns false if no segment contains it. */
bool load_pack_elf_va(const struct pack_object *object, struct tally_file_off offset, struct tally_elf_va *va);

#endif

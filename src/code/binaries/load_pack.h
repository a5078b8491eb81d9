/* SPDX-License-Identifier: Apache-2.0 */
/*
 * load_pack.h - fills an entry of the store with the symbols that are packed into a recording (code/pack/pack.h), and
 * packs an entry.
 */
#ifndef CODE_BINARIES_LOAD_PACK_H
#define CODE_BINARIES_LOAD_PACK_H

#include "code/binaries/binary_entry.h"
#include "code/pack/pack.h"

/* The entry's names are borrowed from the object, which belongs to the pack. */
void load_pack(
	const struct binary_store_options *options, struct binary_entry *entry, const struct pack_object *object);
/* Sets the object's fixed part and segments; what it points to is borrowed from the entry. False: out of memory. */
bool load_pack_describe(const struct binary_entry *entry, struct pack_object *object);
size_t load_pack_places(const struct pack_object *object, uint64_t address, struct source_place *places, size_t max);
bool load_pack_has_places(const struct pack_object *object, const uint64_t *addresses, size_t count);
bool load_pack_elf_va(const struct pack_object *object, struct tally_file_off offset, struct tally_elf_va *va);

#endif

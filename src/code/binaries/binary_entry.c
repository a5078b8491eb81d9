/* SPDX-License-Identifier: Apache-2.0 */
#include "code/binaries/binary_entry.h"

#include <stdlib.h>

void binary_entry_init(
	struct binary_entry *entry, const struct binary_store_options *options, const struct binary_key *key)
{
	*entry = (struct binary_entry){.key = *key, .root.prefix = options->symfs ? options->symfs : ""};
	arena_init(&entry->arena);
}

void binary_entry_deinit(struct binary_entry *entry)
{
	elf_image_close(entry->image);
	elf_image_close(entry->debug);
	symbol_table_deinit(&entry->symbols);
	vec_free(&entry->trail);
	free(entry->names);
	arena_deinit(&entry->arena);
}

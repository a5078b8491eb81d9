/* SPDX-License-Identifier: Apache-2.0 */
/*
 * load_elf.h - loads the symbols of program files and of the vdso into their entries. Failures are in entry->status.
 */
#ifndef CODE_BINARIES_LOAD_ELF_H
#define CODE_BINARIES_LOAD_ELF_H

#include "code/binaries/binary_entry.h"
#include "code/binaries/load_archive.h"

/* Opens the program file: entry->image and used_path. Returns the kind of place; NULL: there is no such file. */
const char *load_open_user_file(const struct binary_store_options *options, struct binary_entry *entry);
/* The libraries in an archive that is mapped as the program file would be. False: there is none. */
bool load_open_user_archive(
	const struct binary_store_options *options, struct binary_entry *entry, struct archive_images *images);
const char *load_open_vdso(const struct binary_store_options *options, struct binary_entry *entry);
void load_user_file(const struct binary_store_options *options, struct binary_entry *entry);
void load_vdso(const struct binary_store_options *options, struct binary_entry *entry);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * load_elf.h - loads the symbols of program files and of the vDSO into their entries. Failures are reported in
 * entry->status.
 */
#ifndef CODE_BINARIES_LOAD_ELF_H
#define CODE_BINARIES_LOAD_ELF_H

#include "code/binaries/binary_entry.h"
#include "code/binaries/load_archive.h"

/* Opens the program file and sets entry->image and used_path. Returns the kind of place at which it was found, as in
 * struct binary_step; NULL if it was not found. */
const char *load_open_user_file(const struct binary_store_options *options, struct binary_entry *entry);
/* Opens the libraries in the archive at the entry's path. Returns false if there is no archive with libraries. */
bool load_open_user_archive(
	const struct binary_store_options *options, struct binary_entry *entry, struct archive_images *images);
/* Opens the vDSO and sets entry->image and used_path. Returns the kind of place; NULL if it was not found. */
const char *load_open_vdso(const struct binary_store_options *options, struct binary_entry *entry);
void load_user_file(const struct binary_store_options *options, struct binary_entry *entry);
void load_vdso(const struct binary_store_options *options, struct binary_entry *entry);

#endif

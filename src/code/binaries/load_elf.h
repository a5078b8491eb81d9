/*
 * load_elf.h - loads the symbols of program files and of the vdso into their entries. Failures are in entry->status.
 */
#ifndef CODE_BINARIES_LOAD_ELF_H
#define CODE_BINARIES_LOAD_ELF_H

#include "code/binaries/binary_entry.h"

/* Opens the program file: entry->image and used_path. Says what kind of place that was; NULL: none is there. */
const char *load_open_user_file(const struct binary_store_options *options, struct binary_entry *entry);
const char *load_open_vdso(const struct binary_store_options *options, struct binary_entry *entry);
void load_user_file(const struct binary_store_options *options, struct binary_entry *entry);
void load_vdso(const struct binary_store_options *options, struct binary_entry *entry);

#endif

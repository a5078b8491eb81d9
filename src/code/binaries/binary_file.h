/* SPDX-License-Identifier: Apache-2.0 */
/*
 * binary_file.h - opens a program file and its debug files: tries the places where they may be, uses the first file
 * that matches, and records in the entry's trail what was found at each place.
 *
 * FIFOs and devices are refused, and so are symbolic links that leave a process's root or lie inside the cache. Opening
 * never blocks. One thread per entry.
 *
 *	struct elf_image *debug = binary_file_debug(entry, options, DEBUG_FILE_SYMBOLS, &path);
 */
#ifndef CODE_BINARIES_BINARY_FILE_H
#define CODE_BINARIES_BINARY_FILE_H

#include "code/binaries/search_path.h"

/* Opens the file at place if it has the build ID of key. Returns NULL otherwise; the last step of the trail has the
 * reason. */
struct elf_image *binary_file_open(
	struct binary_entry *entry, const struct binary_place *place, const struct binary_key *key);

/* What a debug file must contain: anything, symbols, debug information, or call-frame information. */
enum debug_file_need { DEBUG_FILE_ANY, DEBUG_FILE_SYMBOLS, DEBUG_FILE_INFO, DEBUG_FILE_FRAMES };

/* Opens the separate debug file that has the needed sections for the entry's image. The caller closes it. *path becomes
 * its path, which is in the entry's arena. Returns NULL if there is none. */
struct elf_image *binary_file_debug(struct binary_entry *entry, const struct binary_store_options *options,
	enum debug_file_need need, const char **path);
/* Opens the common file of dwz for the debug file at path. The caller closes it. Returns NULL if the debug file refers
 * to none, or it is missing. */
struct elf_image *binary_file_supplement(struct binary_entry *entry, const struct elf_image *debug, const char *path);
/* Returns the name by which the debug file refers to dwz's common file; NULL if it refers to none. */
const char *binary_file_supplement_name(const struct elf_image *debug);
/* Opens the .dwp file of the entry's program, which has its debug information in the file at path. The caller closes
 * it. *package_path becomes its path, which is in the entry's arena. Returns NULL if there is none. */
struct elf_image *binary_file_package(
	struct binary_entry *entry, const struct elf_image *debug, const char *path, const char **package_path);
bool binary_file_has_debug_info(const struct elf_image *image);

#endif

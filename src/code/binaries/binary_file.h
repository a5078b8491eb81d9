/* SPDX-License-Identifier: Apache-2.0 */
/*
 * binary_file.h - opens the places where a program file and its debug files may be, takes the first file that matches,
 * and records in the entry's trail what was at each place.
 *
 * FIFOs, devices, and links that lead out of a process's root or lie inside the cache are refused; opening never
 * blocks. One thread per entry.
 *
 *	struct elf_image *debug = binary_file_debug(entry, options, DEBUG_FILE_SYMBOLS, &path);
 */
#ifndef CODE_BINARIES_BINARY_FILE_H
#define CODE_BINARIES_BINARY_FILE_H

#include "code/binaries/search_path.h"

/* Opens the file at place if it has the key's build ID. NULL: the last step of the trail says why not. */
struct elf_image *binary_file_open(
	struct binary_entry *entry, const struct binary_place *place, const struct binary_key *key);

enum debug_file_need { DEBUG_FILE_ANY, DEBUG_FILE_SYMBOLS, DEBUG_FILE_INFO, DEBUG_FILE_FRAMES };

/* Opens the separate debug file that has the needed sections for the entry's image; the caller closes it. path: in the
 * entry's arena. NULL: there is none. */
struct elf_image *binary_file_debug(struct binary_entry *entry, const struct binary_store_options *options,
	enum debug_file_need need, const char **path);
/* dwz's common file of the debug file at path, which the caller closes; NULL: it names none, or the file is missing. */
struct elf_image *binary_file_supplement(struct binary_entry *entry, const struct elf_image *debug, const char *path);
/* The name by which the debug file refers to dwz's common file; NULL: it refers to none. */
const char *binary_file_supplement_name(const struct elf_image *debug);
/* Opens the .dwp file of the entry's program, whose debug information is in the file at path; the caller closes it.
 * *package_path becomes its path, which lives in the entry's arena. NULL: there is none. */
struct elf_image *binary_file_package(
	struct binary_entry *entry, const struct elf_image *debug, const char *path, const char **package_path);
bool binary_file_has_debug_info(const struct elf_image *image);

#endif

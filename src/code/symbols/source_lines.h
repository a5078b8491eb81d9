/* SPDX-License-Identifier: Apache-2.0 */
/*
 * source_lines.h - finds source lines and inlined calls of an address in the debug information of one binary.
 *
 * Owned by an entry of the binary store. One thread at a time. Addresses are link-time. Names and paths are created
 * once and live as long as the lines.
 */
#ifndef CODE_SYMBOLS_SOURCE_LINES_H
#define CODE_SYMBOLS_SOURCE_LINES_H

#include <tally/status.h>

#include "base/bytes.h"
#include "code/symbol.h"
#include "object/elf/elf_image.h"

struct source_lines;

struct source_lines_files {
	const struct elf_image *image; /* File with the debug sections. */
	/* The same as image if image is a separate debug file, which is closed together with the lines; NULL if image
	 * is the program file, which the caller owns. */
	struct elf_image *owned;
	struct elf_image *supplement; /* Common file of dwz; closed together with the lines; NULL if none. */
	struct elf_image *package; /* The program's .dwp file; closed together with the lines; NULL if none. */
	const char *path; /* Path of image; borrowed. */
	const char *root; /* Prefix for the absolute paths of .dwo files; "" if none; borrowed. */
	int32_t root_pid; /* PID of the process that has this root, which symbolic links must not leave; 0 if none. */
};

/* Opens the lines. Takes ownership of the files, also if it fails. NOT_FOUND: image has no debug information. */
TALLY_MUST_CHECK enum tally_status source_lines_open(
	const struct source_lines_files *files, struct source_lines **lines, struct tally_error *err);
void source_lines_close(struct source_lines *lines);
/* Reads the units that contain these addresses, unless they were read before. threads is the number of threads; 0 means
 * one per CPU. */
TALLY_MUST_CHECK enum tally_status source_lines_load(
	struct source_lines *lines, const uint64_t *addresses, size_t count, unsigned threads, struct tally_error *err);
/* Reads all units. */
TALLY_MUST_CHECK enum tally_status source_lines_load_all(
	struct source_lines *lines, unsigned threads, struct tally_error *err);
/* Finds at most max places of an address, the innermost inlined call first, and returns their number; 0 if its unit was
 * not loaded, or has no information about it. */
size_t source_lines_find(struct source_lines *lines, uint64_t address, struct source_place *places, size_t max);
struct arena;
/* Returns the path, in the arena, at which the compiler wrote the .dwo file of the first split unit whose file was not
 * found. NULL: none is missing, the program does not state the path, or memory ran out. */
const char *source_lines_missing_split(const struct source_lines *lines, struct arena *arena);
/* Returns the number of units that could not be read completely. */
uint64_t source_lines_damaged(const struct source_lines *lines);
/* Returns the path of the file with the debug information. */
const char *source_lines_path(const struct source_lines *lines);
struct debug_info;
struct debug_info *source_lines_info(const struct source_lines *lines);
/* Returns the image that contains the debug information. */
const struct elf_image *source_lines_image(const struct source_lines *lines);

#endif

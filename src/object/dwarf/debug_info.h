/* SPDX-License-Identifier: Apache-2.0 */
/*
 * debug_info.h - finds the function, the inlined calls and the source line of a link-time address.
 *
 * The caller owns the info, and the image must outlive it. Opening reads only the header of each unit. debug_info_load
 * reads the units of the addresses given, in parallel; after it any thread may call debug_info_find. Names are borrowed
 * from the sections.
 *
 * Bad input: a damaged unit is skipped or used up to its damage and counted in debug_info_damaged; the rest still gives
 * names.
 *
 *	debug_info_open(image, &(struct debug_info_options){0}, &info, err);
 *	debug_info_load(info, addresses, count, 0, err);
 *	size_t n = debug_info_find(info, address, places, LIMIT_INLINE_DEPTH);
 */
#ifndef OBJECT_DWARF_DEBUG_INFO_H
#define OBJECT_DWARF_DEBUG_INFO_H

#include "object/elf/elf_image.h"

struct debug_info;

struct debug_place { /* innermost first: what was inlined, then the function that the code is in */
	uint32_t unit;
	uint32_t file; /* of the unit's line table: see debug_info_path; DWARF_NO_FILE: not said */
	uint32_t line; /* 0: not said */
	uint32_t discriminator; /* of the innermost; 0: none */
	uint64_t function; /* its entry: see debug_info_name; 0 none */
	bool is_inlined;
};

struct debug_info_options {
	const struct elf_image *supplement; /* dwz's common file; NULL none */
	const struct elf_image *package; /* the program's .dwp, in which split units are looked for first; NULL none */
	/* Opens the .dwo file of a skeleton unit at one of the places where it may be, from 0 to below
	 * DEBUG_INFO_SPLIT_PLACES; the info closes it. It returns NULL if the place has none. Several threads call it.
	 * NULL instead of a function: .dwo files are not searched. */
	struct elf_image *(*open_split)(
		void *context, struct tally_str directory, struct tally_str name, unsigned place);
	void *context;
};
#define DEBUG_INFO_SPLIT_PLACES 3

struct debug_missing_splits { /* skeleton units whose split unit was found neither in a .dwo nor in the .dwp file */
	uint64_t units; /* how many of the units that were loaded */
	/* Where the program says that the first unit's .dwo file is; borrowed from the program's image. */
	struct tally_str directory, name;
	bool is_other; /* the first one's .dwo file was found, but it is of another build or damaged */
};

struct dwarf_location_lists;
struct dwarf_reader;

struct debug_unit_range { /* code of a unit */
	uint64_t low, high;
	uint32_t unit;
	uint32_t enclosing; /* index of the last one before it that is open where it begins; UINT32_MAX none */
};

struct debug_unit { /* borrowed from the info */
	const struct dwarf_lines *lines;
	const struct dwarf_functions *functions;
	/* Where the entries of the functions are. */
	const struct dwarf_file *file;
	const struct dwarf_unit *unit;
	const struct elf_image *split_image; /* as of a debug_function */
	const struct dwarf_location_lists *packaged; /* likewise */
};

/* NOT_FOUND: the image has no debug information. */
TALLY_MUST_CHECK enum tally_status debug_info_open(const struct elf_image *image,
	const struct debug_info_options *options, struct debug_info **info, struct tally_error *err);
void debug_info_close(struct debug_info *info);
/* threads: 0: one per CPU. */
TALLY_MUST_CHECK enum tally_status debug_info_load(
	struct debug_info *info, const uint64_t *addresses, size_t count, unsigned threads, struct tally_error *err);
/* Fills at most max places; 0: the address is not known. Only for addresses that were loaded. */
size_t debug_info_find(const struct debug_info *info, uint64_t address, struct debug_place *places, size_t max);
/* The linkage name, or the source name if there is no other. */
struct tally_str debug_info_name(
	const struct debug_info *info, struct dwarf_reader *reader, const struct debug_place *place);
struct arena;
/* The whole path of the place's file, in the arena; NULL: not known or out of memory. */
const char *debug_info_path(const struct debug_info *info, const struct debug_place *place, struct arena *arena);
/* The ranges of all units, sorted by low. */
const struct debug_unit_range *debug_info_ranges(const struct debug_info *info, size_t *count);
uint32_t debug_info_unit_count(const struct debug_info *info);
struct debug_function { /* with what was inlined into it; borrowed from the info */
	const struct dwarf_file *file;
	const struct dwarf_unit *unit;
	uint64_t entry;
	uint64_t low, high; /* the range of its code that has the address */
	const struct elf_image *split_image; /* that the file is of; NULL: the image, or a package */
	const struct dwarf_location_lists *packaged; /* of a unit in a package: its location lists; else NULL */
};
/* The function that holds an address that was loaded; false: none is known. */
bool debug_info_function(const struct debug_info *info, uint64_t address, struct debug_function *function);
const struct dwarf_file *debug_info_file(const struct debug_info *info);
/* False: the unit was not requested, or could not be read completely. */
bool debug_info_unit(const struct debug_info *info, uint32_t unit, struct debug_unit *out);
/* The number of units that could not be read completely. */
uint64_t debug_info_damaged(const struct debug_info *info);
struct debug_missing_splits debug_info_missing_splits(const struct debug_info *info);
/* Whether the options name a .dwp file whose index cannot be read. */
bool debug_info_package_is_damaged(const struct debug_info *info);
/* Whether no supplement is used: the options name none, or it could not be read. */
bool debug_info_lacks_supplement(const struct debug_info *info);

#endif

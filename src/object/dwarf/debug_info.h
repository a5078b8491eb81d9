/* SPDX-License-Identifier: Apache-2.0 */
/*
 * debug_info.h - finds the function, the inlined calls and the source line of a link-time address.
 *
 * The caller owns the info, and the image must outlive it. Opening reads only the header of each unit. debug_info_load
 * reads the units of the given addresses in parallel; after it, any thread may call debug_info_find. Names are borrowed
 * from the sections.
 *
 * Bad input: a damaged unit is skipped, or used up to its damage and counted in debug_info_damaged; the other units are
 * still used.
 *
 *	debug_info_open(image, &(struct debug_info_options){0}, &info, err);
 *	debug_info_load(info, addresses, count, 0, err);
 *	size_t n = debug_info_find(info, address, places, LIMIT_INLINE_DEPTH);
 */
#ifndef OBJECT_DWARF_DEBUG_INFO_H
#define OBJECT_DWARF_DEBUG_INFO_H

#include "object/elf/elf_image.h"

struct debug_info;

/* A source location. Lists have the innermost inlined call first and the function that contains the code last. */
struct debug_place {
	uint32_t unit;
	uint32_t file; /* Number in the unit's line table, see debug_info_path; DWARF_NO_FILE if not known. */
	uint32_t line; /* 0 if not known. */
	uint32_t discriminator; /* Discriminator of the innermost place; 0 if none. */
	uint64_t function; /* Offset of its entry, see debug_info_name; 0 if none. */
	bool is_inlined;
};

struct debug_info_options {
	const struct elf_image *supplement; /* Common file of dwz; NULL if none. */
	/* The program's .dwp file, which is searched for split units first; NULL if none. */
	const struct elf_image *package;
	/* Opens the .dwo file of a skeleton unit at the place with this number, below DEBUG_INFO_SPLIT_PLACES; the info
	 * closes it. Returns NULL if there is none. Several threads call it. If open_split is NULL, .dwo files are not
	 * searched. */
	struct elf_image *(*open_split)(
		void *context, struct tally_str directory, struct tally_str name, unsigned place);
	void *context;
};
#define DEBUG_INFO_SPLIT_PLACES 3

/* Skeleton units that have a split unit which was found neither in a .dwo nor in the .dwp file. */
struct debug_missing_splits {
	uint64_t units; /* Number of such units among the loaded ones. */
	/* Path of the first unit's .dwo file according to the program; borrowed from the program's image. */
	struct tally_str directory, name;
	bool is_other; /* The first unit's .dwo file was found, but is of another build or damaged. */
};

struct dwarf_location_lists;
struct dwarf_reader;

/* A range of code of a unit. */
struct debug_unit_range {
	uint64_t low, high;
	uint32_t unit;
	uint32_t enclosing; /* Index of the last range before this one that contains its start; UINT32_MAX if none. */
};

/* The data of a unit, borrowed from the info. */
struct debug_unit {
	const struct dwarf_lines *lines;
	const struct dwarf_functions *functions;
	/* File and unit that contain the entries of the functions. */
	const struct dwarf_file *file;
	const struct dwarf_unit *unit;
	const struct elf_image *split_image; /* See struct debug_function. */
	const struct dwarf_location_lists *packaged; /* See struct debug_function. */
};

/* Opens the debug information of an image. NOT_FOUND: it has none. */
TALLY_MUST_CHECK enum tally_status debug_info_open(const struct elf_image *image,
	const struct debug_info_options *options, struct debug_info **info, struct tally_error *err);
void debug_info_close(struct debug_info *info);
/* Reads the units of the given addresses; threads 0 means one per CPU. */
TALLY_MUST_CHECK enum tally_status debug_info_load(
	struct debug_info *info, const uint64_t *addresses, size_t count, unsigned threads, struct tally_error *err);
/* Returns at most max places; 0 if the address is not known. Only for addresses that were loaded. */
size_t debug_info_find(const struct debug_info *info, uint64_t address, struct debug_place *places, size_t max);
/* Returns the linkage name, or the source name if there is none. */
struct tally_str debug_info_name(
	const struct debug_info *info, struct dwarf_reader *reader, const struct debug_place *place);
struct arena;
/* Returns the full path of the place's file, in the arena; NULL if not known, or memory runs out. */
const char *debug_info_path(const struct debug_info *info, const struct debug_place *place, struct arena *arena);
/* Returns the ranges of all units, sorted by low. */
const struct debug_unit_range *debug_info_ranges(const struct debug_info *info, size_t *count);
uint32_t debug_info_unit_count(const struct debug_info *info);
/* A function including the calls that were inlined into it; borrowed from the info. */
struct debug_function {
	const struct dwarf_file *file;
	const struct dwarf_unit *unit;
	uint64_t entry;
	uint64_t low, high; /* The range of its code that contains the address. */
	const struct elf_image *split_image; /* The image of file; NULL if it is the info's image, or a package. */
	const struct dwarf_location_lists *packaged; /* Location lists of a unit in a package; NULL for other units. */
};
/* Finds the function that contains an address that was loaded; returns false if none is known. */
bool debug_info_function(const struct debug_info *info, uint64_t address, struct debug_function *function);
const struct dwarf_file *debug_info_file(const struct debug_info *info);
/* Returns false if the unit was not requested, or could not be read completely. */
bool debug_info_unit(const struct debug_info *info, uint32_t unit, struct debug_unit *out);
/* Returns the number of units that could not be read completely. */
uint64_t debug_info_damaged(const struct debug_info *info);
struct debug_missing_splits debug_info_missing_splits(const struct debug_info *info);
/* Returns whether the options have a .dwp file with an unreadable index. */
bool debug_info_package_is_damaged(const struct debug_info *info);
/* Returns whether no supplement is used: the options have none, or it could not be read. */
bool debug_info_lacks_supplement(const struct debug_info *info);

#endif

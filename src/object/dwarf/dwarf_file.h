/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dwarf_file.h - reads the debug sections of one ELF file, their units, and attributes of entries:
 *
 * The caller owns the file and opens it on an elf_image that outlives it. After open it is read-only and any thread may
 * read it; parsed abbreviations are kept in a dwarf_reader, one per thread.
 *
 * Bad input: a damaged unit ends the walk of that unit (its reader says so); the list of units ends at the first
 * invalid header, and the units before it stay.
 *
 *	dwarf_file_open(image, NULL, &file, err);
 *	for (size_t i = 0; i < file->units.len; i++) ...
 *	dwarf_file_close(file);
 */
#ifndef OBJECT_DWARF_DWARF_FILE_H
#define OBJECT_DWARF_DWARF_FILE_H

#include "object/dwarf/dwarf_unit.h"

/* NOT_FOUND: the image has no debug information. supplement may be NULL and outlives the file. */
TALLY_MUST_CHECK enum tally_status dwarf_file_open(const struct elf_image *image, const struct dwarf_file *supplement,
	struct dwarf_file **file, struct tally_error *err);
/* A .dwo, of which unit is the skeleton in program. */
TALLY_MUST_CHECK enum tally_status dwarf_file_open_split(const struct elf_image *image,
	const struct dwarf_file *program, struct dwarf_file **file, struct tally_error *err);
/* From sections that outlive the file, as they stand in it (tests, fuzzers). */
TALLY_MUST_CHECK enum tally_status dwarf_file_open_sections(const struct tally_bytes sections[DWARF_SECTIONS],
	bool swap, struct dwarf_file **file, struct tally_error *err);
/* The same for those of a split unit. */
TALLY_MUST_CHECK enum tally_status dwarf_file_open_part(const struct tally_bytes sections[DWARF_SECTIONS], bool swap,
	const struct dwarf_file *program, struct dwarf_file **file, struct tally_error *err);
void dwarf_file_close(struct dwarf_file *file);
/* The type of that signature, in the file or in its types. False: there is none. */
bool dwarf_file_find_type(
	const struct dwarf_file *file, uint64_t signature, const struct dwarf_file **home, uint64_t *entry);
/* The unit, of types too, whose entries cover offset of DWARF_INFO; NULL if none. */
const struct dwarf_unit *dwarf_file_unit_at(const struct dwarf_file *file, uint64_t offset);

#endif

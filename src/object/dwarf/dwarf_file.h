/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dwarf_file.h - opens the debug sections of one ELF file and lists their units.
 *
 * The caller owns the file and opens it on an elf_image that must outlive it. After that it is not changed, and any
 * thread may use it. Parsed abbreviations are stored in a dwarf_reader, one per thread.
 *
 * Bad input: damage in a unit ends its walk (its reader reports it); the list of units ends at the first invalid
 * header, and the units before it remain.
 *
 *	dwarf_file_open(image, NULL, &file, err);
 *	for (size_t i = 0; i < file->units.len; i++) ...
 *	dwarf_file_close(file);
 */
#ifndef OBJECT_DWARF_DWARF_FILE_H
#define OBJECT_DWARF_DWARF_FILE_H

#include "object/dwarf/dwarf_unit.h"

/* Opens the debug sections of an image. supplement may be NULL and must outlive the file. NOT_FOUND: the image has no
 * debug information. */
TALLY_MUST_CHECK enum tally_status dwarf_file_open(const struct elf_image *image, const struct dwarf_file *supplement,
	struct dwarf_file **file, struct tally_error *err);
/* Opens a .dwo file that belongs to a skeleton unit in program. */
TALLY_MUST_CHECK enum tally_status dwarf_file_open_split(const struct elf_image *image,
	const struct dwarf_file *program, struct dwarf_file **file, struct tally_error *err);
/* Opens sections, in their stored form, that must outlive the file (tests, fuzzers). */
TALLY_MUST_CHECK enum tally_status dwarf_file_open_sections(const struct tally_bytes sections[DWARF_SECTIONS],
	bool swap, struct dwarf_file **file, struct tally_error *err);
/* Does the same for the sections of a split unit. */
TALLY_MUST_CHECK enum tally_status dwarf_file_open_part(const struct tally_bytes sections[DWARF_SECTIONS], bool swap,
	const struct dwarf_file *program, struct dwarf_file **file, struct tally_error *err);
void dwarf_file_close(struct dwarf_file *file);
/* Finds the type with that signature, in the file or in its type units. Returns false if there is none. */
bool dwarf_file_find_type(
	const struct dwarf_file *file, uint64_t signature, const struct dwarf_file **home, uint64_t *entry);
/* Returns the unit or type unit that contains an offset in DWARF_INFO; NULL if none. */
const struct dwarf_unit *dwarf_file_unit_at(const struct dwarf_file *file, uint64_t offset);

#endif

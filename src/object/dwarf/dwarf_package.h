/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dwarf_package.h - reads .dwp files, which contain the .dwo files of a program, and finds units in them by ID. Index
 * sections of version 2 (GNU's, for DWARF 4) and 5, in either byte order, are supported; type units are not read.
 *
 * The caller owns the package; the image must outlive it. After dwarf_package_open it is not changed, and any thread
 * may use it.
 *
 * Bad input: a malformed index makes the package unusable; a row that points outside of a section is ignored. Source:
 * DWARF 5, section 7.3.5 and appendix F.
 *
 *	dwarf_package_open(image, &package, err);
 *	dwarf_package_unit(package, skeleton->dwo_id, program, &file, err);
 */
#ifndef OBJECT_DWARF_DWARF_PACKAGE_H
#define OBJECT_DWARF_DWARF_PACKAGE_H

#include "object/dwarf/dwarf_location.h"

struct dwarf_package;

/* Opens a package. NOT_FOUND: the image has no .debug_cu_index. */
TALLY_MUST_CHECK enum tally_status dwarf_package_open(
	const struct elf_image *image, struct dwarf_package **package, struct tally_error *err);
/* Opens sections in their stored form (tests, fuzzers); sections that units share are complete. */
TALLY_MUST_CHECK enum tally_status dwarf_package_open_sections(struct tally_bytes index,
	const struct tally_bytes sections[DWARF_SECTIONS], bool swap, struct dwarf_package **package,
	struct tally_error *err);
void dwarf_package_close(struct dwarf_package *package);
/* Opens the part of the package that is the .dwo file with that ID; program contains its skeleton unit. The caller
 * closes the file before the package. NOT_FOUND: there is no such part. */
TALLY_MUST_CHECK enum tally_status dwarf_package_unit(const struct dwarf_package *package, uint64_t dwo_id,
	const struct dwarf_file *program, struct dwarf_file **file, struct tally_error *err);
/* Returns the location lists of that part, borrowed from the package; empty if it has none. Do not close them. */
void dwarf_package_lists(const struct dwarf_package *package, uint64_t dwo_id, struct dwarf_location_lists *lists);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dwarf_builder.h - makes the debug sections of one small unit in memory: DWARF 2 to 5, 32-bit or 64-bit, in either
 * byte order.
 *
 * The unit is "unit.c", compiled in "/src", and covers [0x1000, 0x1200):
 *
 *	outer [0x1000, 0x1100)      linkage name "_outer"
 *	  inlined middle [0x1010, 0x1050), called in line 20 of header.h
 *	    inlined deep in ranges [0x1020, 0x1030) and [0x1040, 0x1044), called in line 30 of unit.c
 *	second [0x1100, 0x1180)     inside a namespace
 *
 * Lines: 0x1000 unit.c:1, 0x1010 header.h:11, 0x1020 header.h:12, 0x1030 header.h:13, 0x1050 unit.c:5, 0x1100
 * unit.c:40, up to 0x1180.
 *
 *	struct dwarf_builder b;
 *	dwarf_builder_make(&b, &(struct dwarf_builder_kind){.version = 5});   ... b.sections ... dwarf_builder_deinit(&b);
 */
#ifndef SUPPORT_DWARF_BUILDER_H
#define SUPPORT_DWARF_BUILDER_H

#include "base/writer.h"
#include "object/dwarf/dwarf_unit.h"

struct dwarf_builder_kind {
	unsigned version;
	bool is_big; /* Big-endian. */
	bool is_64; /* 64-bit offsets (DWARF 3 and later) */
	bool is_indexed; /* DWARF 5: names and addresses are indexes, as in split units. */
};

struct dwarf_builder {
	struct writer bytes[DWARF_SECTIONS];
	struct tally_bytes sections[DWARF_SECTIONS];
	bool swap;
};

void dwarf_builder_make(struct dwarf_builder *b, const struct dwarf_builder_kind *kind);
/* Makes the sections from a fuzzer's input. The first byte of data is the kind. After it come changes of three bytes
 * each (a 16-bit offset into the concatenated sections, and the new value); or, if the highest bit of the first byte is
 * set, the 16-bit length and the bytes of each section. */
void dwarf_builder_make_from(struct dwarf_builder *b, const uint8_t *data, size_t size);
void dwarf_builder_deinit(struct dwarf_builder *b);

#endif

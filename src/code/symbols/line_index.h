/* SPDX-License-Identifier: Apache-2.0 */
/*
 * line_index.h - stores the debug information of one binary in a form that is mapped and searched instead of read:
 * functions, inlined calls and source lines of the units that were needed so far.
 *
 * A reader borrows the bytes (of a mapped file), and its places borrow from them. Finding checks the unit's checksum
 * once: one thread at a time. The builder belongs to the caller; units that an older index has are copied over.
 *
 * The bytes are for this machine: first a magic, the version of the format, the byte order, the build ID of the binary
 * and the list of files that were read; then the ranges of all units, the table of units, and a block for each unit
 * that was read. All words have 32 bits, except addresses. Source: this file and line_index.c; another version is
 * refused.
 *
 * Bad input: line_index_open refuses bytes of another format or build, and truncated ones. A unit with a wrong checksum
 * or wrong counts is treated as missing.
 *
 *	if (line_index_open(&index, bytes, &build_id) && line_index_has(&index, address))
 *		count = line_index_find(&index, address, places, max);
 */
#ifndef CODE_SYMBOLS_LINE_INDEX_H
#define CODE_SYMBOLS_LINE_INDEX_H

#include <tally/status.h>

#include "base/bytes.h"
#include "base/writer.h"
#include "code/symbol.h"
#include "object/dwarf/debug_info.h"
#include "object/elf/elf_image.h"

struct line_index_range;
struct line_index_unit;

struct line_index {
	struct tally_bytes bytes; /* len 0: none */
	const struct line_index_range *ranges;
	const struct line_index_unit *units;
	uint32_t range_count, unit_count;
	const char *source; /* the file that it was made from */
	struct elf_origin program, file; /* of the binary; of source (its head is 0): as they were then */
	uint8_t *checked; /* by unit: 0 not yet, else whether it is good */
};

/* False: no index of that binary, or out of memory. */
bool line_index_open(struct line_index *index, struct tally_bytes bytes, const struct elf_build_id *id);
void line_index_deinit(struct line_index *index);
/* True if it can answer for the address; also where no unit covers it. */
bool line_index_has(struct line_index *index, uint64_t address);
/* As source_lines_find; of an address that it has. */
size_t line_index_find(const struct line_index *index, uint64_t address, struct source_place *places, size_t max);

struct line_index_source {
	const struct debug_info *info;
	const char *path; /* of its file */
	struct elf_build_id id; /* of the binary */
	struct elf_origin program, file; /* as of struct line_index */
	unsigned threads; /* 0: one per CPU */
};

struct line_index_sink { /* a file; each byte is put once, not in order */
	enum tally_status (*put)(void *context, uint64_t offset, struct tally_bytes bytes, struct tally_error *err);
	void *context;
};

/* Writes the units that the info has read and those of older (bytes.len 0: none). NOT_FOUND: older has them all, and
 * nothing was written. */
TALLY_MUST_CHECK enum tally_status line_index_build(const struct line_index_source *source, struct line_index *older,
	const struct line_index_sink *sink, struct tally_error *err);

#endif

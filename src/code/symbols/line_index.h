/* SPDX-License-Identifier: Apache-2.0 */
/*
 * line_index.h - stores the debug information of one binary in a form that is mapped and searched without parsing:
 * functions, inlined calls and source lines of the units that were needed so far.
 *
 * A reader borrows the bytes (of a mapped file), and its places borrow from them. The first search in a unit verifies
 * its checksum: one thread at a time. The builder belongs to the caller; it copies the units of an older index.
 *
 * The format, which line_index_form.h defines, has the byte order of this machine: a header with the build ID of the
 * binary, the ranges of all units, the table of units, the path of the file that was read, and a block for each unit
 * that was read.
 *
 * Bad input: line_index_open refuses bytes that are truncated, or have another version, byte order or build ID. A unit
 * with a wrong checksum or wrong counts is treated as missing.
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
	struct tally_bytes bytes; /* len is 0 if no index is open. */
	const struct line_index_range *ranges;
	const struct line_index_unit *units;
	uint32_t range_count, unit_count;
	const char *source; /* Path of the file from which the index was made. */
	/* Identities of the binary and of the file at source when the index was made; the member head of file is 0. */
	struct elf_origin program, file;
	uint8_t *checked; /* State of each unit: 0 if not checked yet, else LINE_INDEX_GOOD or LINE_INDEX_BAD. */
};

/* Opens an index. Returns false if the bytes are not an index of that binary, or memory runs out. */
bool line_index_open(struct line_index *index, struct tally_bytes bytes, const struct elf_build_id *id);
void line_index_deinit(struct line_index *index);
/* Returns whether the index has the unit that contains the address; also true for an address that belongs to no
 * unit. */
bool line_index_has(struct line_index *index, uint64_t address);
/* Works like source_lines_find. Call it only for an address for which line_index_has returned true. */
size_t line_index_find(const struct line_index *index, uint64_t address, struct source_place *places, size_t max);

struct line_index_source {
	const struct debug_info *info;
	const char *path; /* Path of the file with the debug information. */
	struct elf_build_id id; /* Build ID of the binary. */
	struct elf_origin program, file; /* See struct line_index. */
	unsigned threads; /* Number of threads; 0 means one per CPU. */
};

/* Output of the builder. Each byte is written once, in any order. */
struct line_index_sink {
	enum tally_status (*put)(void *context, uint64_t offset, struct tally_bytes bytes, struct tally_error *err);
	void *context;
};

/* Writes the units that info has read and those of older (bytes.len is 0 if there is none). NOT_FOUND: older contains
 * all of them, and nothing was written. */
TALLY_MUST_CHECK enum tally_status line_index_build(const struct line_index_source *source, struct line_index *older,
	const struct line_index_sink *sink, struct tally_error *err);

#endif

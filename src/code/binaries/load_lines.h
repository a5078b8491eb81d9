/* SPDX-License-Identifier: Apache-2.0 */
/*
 * load_lines.h - finds the file that has the debug information of an entry, for the store: the program itself, a
 * separate debug file, and dwz's common file.
 */
#ifndef CODE_BINARIES_LOAD_LINES_H
#define CODE_BINARIES_LOAD_LINES_H

#include "code/binaries/binary_entry.h"

/* Sets entry->lines, or entry->go_lines for a Go program without debug information, or neither if nothing was found.
 * NOMEM is the only error. */
TALLY_MUST_CHECK enum tally_status load_lines(
	const struct binary_store_options *options, struct binary_entry *entry, struct tally_error *err);
/* Returns at most max places of a link-time address from entry->go_lines; 0 if there is none. */
size_t load_lines_find_go(const struct binary_entry *entry, uint64_t address, struct source_place *places, size_t max);
/* Looks up link-time addresses with the addr2line program of the options, in the file that has the debug information or
 * else in the program file. Call it after load_lines. A failure of the program becomes a step of the entry's trail;
 * NOMEM is the only error. */
TALLY_MUST_CHECK enum tally_status load_program_lines(const struct binary_store_options *options,
	struct binary_entry *entry, const uint64_t *addresses, size_t count, struct tally_error *err);
/* Records in entry->lacks which parts of the debug information read so far are missing. */
void load_lines_note_lacks(struct binary_entry *entry);

#endif

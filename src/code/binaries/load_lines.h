/* SPDX-License-Identifier: Apache-2.0 */
/*
 * load_lines.h - finds the file that has the debug information of an entry: the program itself, a separate debug file,
 * and dwz's common file. For the store.
 */
#ifndef CODE_BINARIES_LOAD_LINES_H
#define CODE_BINARIES_LOAD_LINES_H

#include "code/binaries/binary_entry.h"

/* Sets entry->lines, or entry->go_lines of a Go program without debug information, or neither if nothing was found.
 * Only NOMEM fails. */
TALLY_MUST_CHECK enum tally_status load_lines(
	const struct binary_store_options *options, struct binary_entry *entry, struct tally_error *err);
/* As source_lines_find, in entry->go_lines. */
size_t load_lines_find_go(const struct binary_entry *entry, uint64_t address, struct source_place *places, size_t max);
/* Call it after load_lines: looks up link-time addresses with the program that the options name, in the file with the
 * debug information or else in the program file itself. A failure of the program becomes a step of the entry; only
 * NOMEM is returned. */
TALLY_MUST_CHECK enum tally_status load_program_lines(const struct binary_store_options *options,
	struct binary_entry *entry, const uint64_t *addresses, size_t count, struct tally_error *err);
/* Records in entry->lacks what is lacking of the debug information that was read so far. */
void load_lines_note_lacks(struct binary_entry *entry);

#endif

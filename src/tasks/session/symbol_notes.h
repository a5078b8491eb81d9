/* SPDX-License-Identifier: Apache-2.0 */
/*
 * symbol_notes.h - reports why symbols are missing from a report: the kernel hides them, the file has been replaced,
 * and so on.
 *
 * Usual cases are not reported: a few samples in stripped files cause no note.
 *
 *	symbol_notes_add(&notes, store, &hits, false);  ...  cli_print_diag(cli, &notes);
 */
#ifndef TASKS_SESSION_SYMBOL_NOTES_H
#define TASKS_SESSION_SYMBOL_NOTES_H

#include "analysis/binary_hits.h"
#include "analysis/frame_names.h"
#include "base/diag.h"
#include "cli/cli.h"

/* hits must be complete, and their files loaded by the store. is_verbose adds the sources of each file's symbols. */
void symbol_notes_add(
	struct diag *notes, const struct binary_store *store, const struct binary_hits *hits, bool is_verbose);
/* Reports files without a recorded build ID that may differ from the recorded ones, according to their inodes or times,
 * and files with incomplete debug information. It is a part of symbol_notes_add, for verbs that report nothing else
 * about names. */
void symbol_notes_add_doubts(struct diag *notes, const struct binary_store *store);
void symbol_notes_print_doubts(const struct cli *cli, const struct binary_store *store);
/* Reports how the external program for source lines failed for one file, if it did. */
void symbol_notes_add_lines(struct diag *notes, const struct binary_store *store, uint32_t id);
/* Prints the notes of symbol_notes_add on standard error, for a verb that names frames one by one. */
void symbol_notes_print(
	const struct cli *cli, const struct binary_store *store, const struct frame_names *names, bool is_verbose);
/* Stores in the cache the source lines that were read from debug information. Must be called after the output. A
 * failure is reported only if is_verbose is set, because it only costs time. */
void symbol_notes_keep_places(const struct cli *cli, struct binary_store *store, bool is_verbose);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record_files.h - holds the program files that are mapped while it records: they can be read at the end although their
 * names are gone, are other files' by then, or were of a mount namespace that has ended.
 *
 * Fed with the records as they come (record_files_look), it opens each file once, through the process while that lives.
 * Descriptors are bounded by what the process may have; a file beyond that is opened at the end, if it is still there.
 * The caller owns it (record_files_destroy); look and find go from any thread. Descriptors that are found stay its own.
 *
 *	record_files_create(&files, err);
 *	record_files_look(files, slices, count);  ...  fd = record_files_find(files, &key);
 */
#ifndef TASKS_RECORDING_RECORD_FILES_H
#define TASKS_RECORDING_RECORD_FILES_H

#include "code/binary_store.h"

struct record_files;

TALLY_MUST_CHECK enum tally_status record_files_create(struct record_files **files, struct tally_error *err);
void record_files_destroy(struct record_files *files);
/* Whole records, as rings have them. Those that say nothing of mapped code cost a look at their headers. */
void record_files_look(void *files, const struct tally_bytes *slices, size_t count);
/* When to look again: soon after a program has started, less often each time that it is asked when none has. */
int record_files_pause_ms(struct record_files *files);
/* By build id, or where the key has none by device and inode. -1: it is not held. As binary_kept wants it. */
int record_files_find(void *files, const struct binary_key *key);
size_t record_files_count(struct record_files *files);

#endif

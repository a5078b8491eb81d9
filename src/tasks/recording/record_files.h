/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record_files.h - keeps the program files open that are mapped during a recording, so that they can be read at its end
 * even if they were removed, replaced, or in a mount namespace that has ended.
 *
 * It inspects the records as they arrive (record_files_look), and opens each file once, through its process while that
 * is alive. The limit of open files bounds the number of descriptors; a file beyond it is opened at the end, if it
 * still exists. The caller owns it (record_files_destroy); any thread may call look and find. The descriptors that find
 * returns are borrowed.
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
/* slices are complete records of a ring. If a record is not about mapped code, only its header is read. */
void record_files_look(void *files, const struct tally_bytes *slices, size_t count);
/* Returns the number of milliseconds until the next look. It is small after a program has started, and grows with each
 * call without a new program. */
int record_files_pause_ms(struct record_files *files);
/* Finds a file by build ID, or by device and inode if the key has none. Returns its descriptor, or -1 if it is not
 * open. Has the signature of the callback in struct binary_kept. */
int record_files_find(void *files, const struct binary_key *key);

#endif

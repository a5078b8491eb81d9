/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record_files.h - keeps the program files open that are mapped during a recording, so that they can be read at its end
 * even if they were removed, replaced, or in a mount namespace that has ended.
 *
 * It gets the records as they arrive (record_files_look), and opens each file once, through the process while that
 * lives. The limit of open files bounds the descriptors; a file beyond it is opened at the end, if it still exists. The
 * caller owns it (record_files_destroy); any thread may call look and find. It keeps the ownership of descriptors that
 * find returns.
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
/* slices: complete records of a ring. Of records that are not about mapped code, only the header is read. */
void record_files_look(void *files, const struct tally_bytes *slices, size_t count);
/* Milliseconds until the next look: few after a program has started, and more with each call without a new program. */
int record_files_pause_ms(struct record_files *files);
/* By build id, or where the key has none by device and inode. -1: it is not held. As binary_kept wants it. */
int record_files_find(void *files, const struct binary_key *key);

#endif

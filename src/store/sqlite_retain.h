/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sqlite_retain.h - removes old windows and rows that no other window uses from a store in SQLite, in transactions of
 * bounded length so that batches can be stored between them; and counts the rows of a store.
 *
 * A stack, location, thread or series counts as used if its last_ns is at most an hour older than the oldest window, so
 * that the samples need not be read. The file is shrunk if a tenth of it is free or if it is too large.
 */
#ifndef STORE_SQLITE_RETAIN_H
#define STORE_SQLITE_RETAIN_H

#include "store/sqlite_db.h"

enum tally_status sqlite_retain(
	void *db, uint64_t oldest_ns, uint64_t max_bytes, uint64_t *removed, struct tally_error *err);
enum tally_status sqlite_figures(void *db, struct store_figures *figures, struct tally_error *err);

#endif

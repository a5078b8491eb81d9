/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sqlite_retain.h - removes old windows from a store in SQLite, and what no other window uses, in transactions of
 * bounded length so that batches can be stored between them; and counts what a store has.
 *
 * A stack, location, thread or series is in use as long as its last_ns is at most an hour older than the oldest window:
 * no table of samples is read to find that out. The file shrinks if a tenth of it is free or if it is too large.
 */
#ifndef STORE_SQLITE_RETAIN_H
#define STORE_SQLITE_RETAIN_H

#include "store/sqlite_db.h"

enum tally_status sqlite_retain(
	void *db, uint64_t oldest_ns, uint64_t max_bytes, uint64_t *removed, struct tally_error *err);
enum tally_status sqlite_figures(void *db, struct store_figures *figures, struct tally_error *err);

#endif

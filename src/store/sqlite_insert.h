/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sqlite_insert.h - adds the rows of batches to a store in SQLite, several batches in one transaction.
 *
 * The row numbers of stacks, locations and threads are cached by content ID, so that rows that occur in every batch are
 * found without a statement. If another process changes the tables (PRAGMA data_version), the cache is discarded. The
 * time at which a row was used last is updated at most once an hour.
 */
#ifndef STORE_SQLITE_INSERT_H
#define STORE_SQLITE_INSERT_H

#include "store/sqlite_db.h"

enum tally_status sqlite_insert(
	void *db, const struct store_rows *rows, size_t count, struct store_receipt *receipts, struct tally_error *err);
/* Discards the caches, after rows were removed or a transaction failed. */
void sqlite_insert_forget(struct sqlite_store *s);

#endif

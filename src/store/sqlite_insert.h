/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sqlite_insert.h - adds the rows of batches to a store in SQLite, several batches in one transaction.
 *
 * The numbers of stacks, locations and threads that the tables have are remembered by their content IDs, so that what
 * repeats in every batch is looked up without a statement. Another process may change the tables: then everything is
 * forgotten (PRAGMA data_version). The time when something was used last is written at most once an hour.
 */
#ifndef STORE_SQLITE_INSERT_H
#define STORE_SQLITE_INSERT_H

#include "store/sqlite_db.h"

enum tally_status sqlite_insert(
	void *db, const struct store_rows *rows, size_t count, struct store_receipt *receipts, struct tally_error *err);
/* After rows were removed, or a transaction failed. */
void sqlite_insert_forget(struct sqlite_store *s);

#endif

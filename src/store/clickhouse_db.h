/* SPDX-License-Identifier: Apache-2.0 */
/*
 * clickhouse_db.h - keeps a store in a ClickHouse database: shared by the files that insert, list and remove rows. The
 * tables are those of clickhouse_schema.sql.
 *
 * ClickHouse has no transactions: a batch's rows are inserted under a random number, its attempt, and count once the
 * table `batches` has the attempt. What the tables of labels, binaries, locations and stacks have is remembered, so that
 * most batches ask nothing.
 *
 *	clickhouse_db_insert(db, rows, count, receipts, err);
 */
#ifndef STORE_CLICKHOUSE_DB_H
#define STORE_CLICKHOUSE_DB_H

#include "base/map_u64.h"
#include "store/clickhouse_client.h"
#include "store/clickhouse_schema.h"
#include "store/store_backend.h"

#define CLICKHOUSE_KNOWN_MAX 4000000 /* remembered rows */

struct clickhouse_db {
	struct clickhouse_client *client;
	bool may_write;
	uint8_t id[STORE_ID_BYTES];
	/* By a hash of table, period and ID: 1, or for locations 2 if their symbols are known too. */
	struct map_u64 known;
};

extern const struct store_backend clickhouse_backend;

TALLY_MUST_CHECK enum tally_status clickhouse_db_insert(
	void *db, const struct store_rows *rows, size_t count, struct store_receipt *receipts, struct tally_error *err);
TALLY_MUST_CHECK enum tally_status clickhouse_db_list_series(
	void *db, struct store_range range, const struct store_series_take *take, struct tally_error *err);
TALLY_MUST_CHECK enum tally_status clickhouse_db_list_sums(
	void *db, const struct store_scan *scan, struct tally_error *err);
TALLY_MUST_CHECK enum tally_status clickhouse_db_list_windows(
	void *db, const struct store_window_scan *scan, struct tally_error *err);
TALLY_MUST_CHECK enum tally_status clickhouse_db_list_stacks(
	void *db, const struct store_stack_list *list, struct tally_error *err);
TALLY_MUST_CHECK enum tally_status clickhouse_db_list_locations(
	void *db, const struct store_location_list *list, struct tally_error *err);
TALLY_MUST_CHECK enum tally_status clickhouse_db_figures(
	void *db, struct store_figures *figures, struct tally_error *err);
TALLY_MUST_CHECK enum tally_status clickhouse_db_retain(
	void *db, uint64_t oldest_ns, uint64_t max_bytes, uint64_t *removed, struct tally_error *err);

/* The windows that count and begin in the range, as a condition on begin_ns and attempt. */
void clickhouse_put_range(struct text *sql, struct store_range range);
/* "(1,2,3)" */
void clickhouse_put_ids(struct text *sql, const uint64_t *ids, size_t count);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * clickhouse_db.h - keeps a store in a ClickHouse database: shared by the files that insert, list and remove rows. The
 * tables are those of clickhouse_schema.sql.
 *
 * ClickHouse has no transactions: a batch's rows are inserted under a random number, its attempt, and count once the
 * table `batches` has the attempt (clickhouse_sweep.c). What the tables of labels, binaries, locations and stacks have is remembered, so that
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

#define CLICKHOUSE_ATTEMPT_BITS 31 /* of the random part of an attempt, below its second */
#define CLICKHOUSE_COMMIT_S	600 /* in which an attempt must end */
#define CLICKHOUSE_SWEEP_S	3600 /* after which all attempts have ended, whatever clocks say */

struct clickhouse_db {
	struct clickhouse_client *client;
	bool may_write;
	uint8_t id[STORE_ID_BYTES];
	/* By a hash of table, period and ID: 1, or for locations 2 if their symbols are known too. */
	struct map_u64 known;
	uint64_t swept; /* attempts below count unless they are in the table void_attempts */
};

extern const struct store_backend clickhouse_backend;

TALLY_MUST_CHECK enum tally_status clickhouse_db_insert(
	void *db, const struct store_rows *rows, size_t count, struct store_receipt *receipts, struct tally_error *err);
TALLY_MUST_CHECK enum tally_status clickhouse_db_list_series(
	void *db, struct store_range range, const struct store_series_take *take, struct tally_error *err);
TALLY_MUST_CHECK enum tally_status clickhouse_db_find_windows(
	void *db, struct store_range range, const uint64_t *series, size_t count, bool *has, struct tally_error *err);
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

/* Finds out which of the attempts that must have ended do not count, and reads how far that was done before. */
TALLY_MUST_CHECK enum tally_status clickhouse_sweep(struct clickhouse_db *db, struct tally_error *err);
/* Drops the partitions of a table that are older than one. */
TALLY_MUST_CHECK enum tally_status clickhouse_drop_before(
	struct clickhouse_db *db, const char *table, uint64_t partition, struct tally_error *err);
/* Seconds since 1970. */
uint64_t clickhouse_seconds(void);
/* The windows that count and begin in the range, as a condition on begin_ns and attempt. */
void clickhouse_put_range(const struct clickhouse_db *db, struct text *sql, struct store_range range);

#endif

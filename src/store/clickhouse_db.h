/* SPDX-License-Identifier: Apache-2.0 */
/*
 * clickhouse_db.h - implements a store in a ClickHouse database; the header is shared by the files that insert, list
 * and remove rows. The tables are those of clickhouse_schema.sql.
 *
 * ClickHouse has no transactions. The rows of a batch are inserted with a random number, the attempt, and become valid
 * when the table `batches` contains the attempt (clickhouse_sweep.c). Known rows of the tables of labels, binaries,
 * locations and stacks are cached, so that most batches need no queries.
 *
 *	clickhouse_db_insert(db, rows, count, receipts, err);
 */
#ifndef STORE_CLICKHOUSE_DB_H
#define STORE_CLICKHOUSE_DB_H

#include "base/map_u64.h"
#include "store/clickhouse_client.h"
#include "store/clickhouse_schema.h"
#include "store/store_backend.h"

#define CLICKHOUSE_KNOWN_MAX 4000000 /* Maximum number of cached rows. */

#define CLICKHOUSE_ATTEMPT_BITS 31 /* Number of random low bits of an attempt, below the second of its begin. */
#define CLICKHOUSE_COMMIT_S	600 /* Seconds after which an attempt gives up. */
#define CLICKHOUSE_SWEEP_S	3600 /* Seconds after which all attempts have ended, even if clocks differ. */

struct clickhouse_db {
	struct clickhouse_client *client;
	bool may_write;
	uint8_t id[STORE_ID_BYTES];
	/* Cache of known rows: maps a hash of table, period and ID to 1, or to 2 for locations with known symbols. */
	struct map_u64 known;
	uint64_t swept; /* Smaller attempts are valid unless the table void_attempts contains them. */
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

/* Stores in void_attempts which of the ended attempts are not valid, and updates db->swept. */
TALLY_MUST_CHECK enum tally_status clickhouse_sweep(struct clickhouse_db *db, struct tally_error *err);
/* Drops the partitions of a table that are older than partition. */
TALLY_MUST_CHECK enum tally_status clickhouse_drop_before(
	struct clickhouse_db *db, const char *table, uint64_t partition, struct tally_error *err);
/* Returns the time in seconds since 1970. */
uint64_t clickhouse_seconds(void);
/* Appends a condition on begin_ns and attempt that selects the valid windows that begin in the range. */
void clickhouse_put_range(const struct clickhouse_db *db, struct text *sql, struct store_range range);

#endif

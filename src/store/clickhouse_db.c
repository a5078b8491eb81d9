/* SPDX-License-Identifier: Apache-2.0 */
#include "store/clickhouse_db.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/error.h"

#define CLICKHOUSE_SHRINKS_MAX 100000 /* Maximum number of days that one call removes to free space. */

static enum tally_status clickhouse_db_open(const char *place, bool may_write, void **db, struct tally_error *err)
{
	struct clickhouse_db *d = calloc(1, sizeof(*d));
	if (!d)
		return error_nomem(err);
	d->may_write = may_write;
	enum tally_status status = clickhouse_client_open(place, &d->client, err);
	if (status == TALLY_OK)
		status = clickhouse_schema_make(d->client, may_write, d->id, err);
	if (status == TALLY_OK)
		status = clickhouse_sweep(d, err);
	if (status == TALLY_OK) {
		*db = d;
		return TALLY_OK;
	}
	clickhouse_client_close(d->client);
	free(d);
	return status;
}

static void clickhouse_db_close(void *db)
{
	struct clickhouse_db *d = db;
	if (!d)
		return;
	clickhouse_client_close(d->client);
	map_u64_deinit(&d->known);
	free(d);
}

static const uint8_t *clickhouse_db_id(const void *db)
{
	return ((const struct clickhouse_db *)db)->id;
}

/* Needs no transaction: rows are only added, and days are removed as a whole, so the queries of a list may see later
 * batches, but no partial ones. */
static enum tally_status clickhouse_db_begin_list(void *db, uint64_t deadline_ns, struct tally_error *err)
{
	struct clickhouse_db *c = db;
	enum tally_status status = clickhouse_sweep(c, err);
	clickhouse_client_set_deadline(c->client, deadline_ns);
	return status;
}

static void clickhouse_db_end_list(void *db)
{
	struct clickhouse_db *c = db;
	clickhouse_client_set_deadline(c->client, 0);
}

/* ---- figures and removal ---- */

/* Reads the numbers of a statement that returns one row. */
static enum tally_status clickhouse_ask_numbers(
	struct clickhouse_db *db, const char *sql, uint64_t *numbers, size_t count, struct tally_error *err)
{
	struct text answer = {0};
	enum tally_status status = clickhouse_client_ask(db->client, str_from(sql), &answer, err);
	struct cursor c = row_cursor(&answer);
	for (size_t i = 0; i < count && status == TALLY_OK; i++)
		numbers[i] = cursor_u64(&c);
	if (status == TALLY_OK && c.failed)
		status =
			error_set_at(err, TALLY_CORRUPT, c.pos, "the answer of ClickHouse ends in the middle of a row");
	text_deinit(&answer);
	return status;
}

enum tally_status clickhouse_db_figures(void *db, struct store_figures *figures, struct tally_error *err)
{
	uint64_t batches[4], stacks = 0, locations = 0, bytes = 0;
	enum tally_status status = clickhouse_ask_numbers(db,
		"SELECT count(), sum(samples), min(begin_ns), max(begin_ns) FROM (SELECT begin_ns, batch, any(samples) "
		"AS samples FROM batches GROUP BY begin_ns, batch)",
		batches, 4, err);
	if (status == TALLY_OK)
		status = clickhouse_ask_numbers(db, "SELECT uniqExact(stack) FROM stacks", &stacks, 1, err);
	if (status == TALLY_OK)
		status = clickhouse_ask_numbers(db, "SELECT uniqExact(location) FROM locations", &locations, 1, err);
	if (status == TALLY_OK)
		status = clickhouse_ask_numbers(db,
			"SELECT sum(bytes) FROM system.parts WHERE active AND database = currentDatabase()", &bytes, 1,
			err);
	if (status == TALLY_OK)
		*figures = (struct store_figures){.batches = batches[0],
			.samples = batches[1],
			.stacks = stacks,
			.locations = locations,
			.bytes = bytes,
			.first_ns = batches[2],
			.last_ns = batches[3]};
	return status;
}

enum tally_status clickhouse_drop_before(
	struct clickhouse_db *db, const char *table, uint64_t partition, struct tally_error *err)
{
	struct text sql = {0}, answer = {0};
	text_str(&sql, "SELECT DISTINCT toUInt64OrZero(partition) AS p FROM system.parts WHERE active AND database = "
		       "currentDatabase() AND table = '");
	text_str(&sql, table);
	text_str(&sql, "' AND p < ");
	text_u64(&sql, partition);
	enum tally_status status =
		sql.failed ? error_nomem(err) : clickhouse_client_ask(db->client, text_view(&sql), &answer, err);
	struct cursor c = row_cursor(&answer);
	while (status == TALLY_OK && cursor_left(&c)) {
		uint64_t p = cursor_u64(&c);
		text_clear(&sql);
		text_str(&sql, "ALTER TABLE ");
		text_str(&sql, table);
		text_str(&sql, " DROP PARTITION ");
		text_u64(&sql, p);
		if (!c.failed)
			status = sql.failed ? error_nomem(err)
					    : clickhouse_client_run(db->client, text_view(&sql), true, err);
	}
	text_deinit(&sql);
	text_deinit(&answer);
	return status;
}

static enum tally_status clickhouse_drop_days(struct clickhouse_db *db, uint64_t day, struct tally_error *err)
{
	static const char *const by_day[] = {"batches", "windows", "samples", "series"};
	static const char *const by_period[] = {"label_sets", "binaries", "locations", "stacks"};
	enum tally_status status = TALLY_OK;
	for (size_t i = 0; i < ARRAY_LEN(by_day) && status == TALLY_OK; i++)
		status = clickhouse_drop_before(db, by_day[i], day, err);
	for (size_t i = 0; i < ARRAY_LEN(by_period) && status == TALLY_OK; i++)
		status = clickhouse_drop_before(db, by_period[i], day / CLICKHOUSE_PERIOD_DAYS, err);
	map_u64_deinit(&db->known);
	db->known = (struct map_u64){0};
	return status;
}

/* Removes whole days: those that ended before oldest_ns, then the oldest ones until the store is small enough. */
enum tally_status clickhouse_db_retain(
	void *db, uint64_t oldest_ns, uint64_t max_bytes, uint64_t *removed, struct tally_error *err)
{
	struct store_figures before = {0}, figures = {0};
	uint64_t day = oldest_ns / CLICKHOUSE_DAY_NS;
	enum tally_status status = clickhouse_db_figures(db, &before, err);
	figures = before;
	if (status == TALLY_OK && before.batches && before.first_ns / CLICKHOUSE_DAY_NS < day) {
		status = clickhouse_drop_days(db, day, err);
		if (status == TALLY_OK)
			status = clickhouse_db_figures(db, &figures, err);
	}
	for (unsigned i = 0; i < CLICKHOUSE_SHRINKS_MAX && status == TALLY_OK && max_bytes && figures.batches &&
			     figures.bytes > max_bytes;
		i++) {
		status = clickhouse_drop_days(db, figures.first_ns / CLICKHOUSE_DAY_NS + 1, err);
		if (status == TALLY_OK)
			status = clickhouse_db_figures(db, &figures, err);
	}
	if (status == TALLY_OK)
		*removed = before.batches - MIN(before.batches, figures.batches);
	return status;
}

const struct store_backend clickhouse_backend = {.scheme = "clickhouse:",
	.open = clickhouse_db_open,
	.close = clickhouse_db_close,
	.id = clickhouse_db_id,
	.insert = clickhouse_db_insert,
	.begin_list = clickhouse_db_begin_list,
	.end_list = clickhouse_db_end_list,
	.list_series = clickhouse_db_list_series,
	.find_windows = clickhouse_db_find_windows,
	.list_sums = clickhouse_db_list_sums,
	.list_windows = clickhouse_db_list_windows,
	.list_stacks = clickhouse_db_list_stacks,
	.list_locations = clickhouse_db_list_locations,
	.figures = clickhouse_db_figures,
	.retain = clickhouse_db_retain};

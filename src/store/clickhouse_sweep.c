/* SPDX-License-Identifier: Apache-2.0 */
#include <time.h>

#include "base/error.h"
#include "store/clickhouse_db.h"

#define CLICKHOUSE_SWEEP_PERIOD_S 600
#define SECONDS_OF_DAY		  86400

/*
 * An attempt is one try to insert a batch. Its rows count if it is in the table batches, and is the smallest of its
 * batch. Checking this for each row would cost as much as summing the rows. An attempt that began an hour ago has
 * ended, because it gives up after ten minutes; from then on, the few failed ones are listed in void_attempts, and all
 * others count.
 */

uint64_t clickhouse_seconds(void)
{
	struct timespec now;
	clock_gettime(CLOCK_REALTIME, &now);
	return (uint64_t)now.tv_sec;
}

static enum tally_status clickhouse_read_swept(struct clickhouse_db *db, struct tally_error *err)
{
	struct text answer = {0};
	enum tally_status status =
		clickhouse_client_ask(db->client, STR("SELECT max(up_to) FROM sweeps"), &answer, err);
	struct cursor c = row_cursor(&answer);
	uint64_t swept = cursor_u64(&c);
	if (status == TALLY_OK && !c.failed)
		db->swept = swept;
	text_deinit(&answer);
	return status;
}

static void clickhouse_put_attempts(struct text *sql, uint64_t from, uint64_t to)
{
	text_str(sql, " FROM attempts WHERE attempt >= ");
	text_u64(sql, from);
	text_str(sql, " AND attempt < ");
	text_u64(sql, to);
}

static enum tally_status clickhouse_run_text(struct clickhouse_db *db, const struct text *sql, struct tally_error *err)
{
	return sql->failed ? error_nomem(err) : clickhouse_client_run(db->client, text_view(sql), true, err);
}

enum tally_status clickhouse_sweep(struct clickhouse_db *db, struct tally_error *err)
{
	struct text sql = {0};
	enum tally_status status = clickhouse_read_swept(db, err);
	uint64_t to = (clickhouse_seconds() - CLICKHOUSE_SWEEP_S) << CLICKHOUSE_ATTEMPT_BITS;
	const uint64_t period = (uint64_t)CLICKHOUSE_SWEEP_PERIOD_S << CLICKHOUSE_ATTEMPT_BITS;
	if (status != TALLY_OK || !db->may_write || to < db->swept + period)
		return status;
	text_str(&sql, "INSERT INTO void_attempts SELECT attempt");
	clickhouse_put_attempts(&sql, db->swept, to);
	text_str(&sql,
		" AND attempt NOT IN (SELECT min(attempt) FROM batches WHERE (begin_ns, batch) IN (SELECT begin_ns, "
		"batch");
	clickhouse_put_attempts(&sql, db->swept, to);
	text_str(&sql, ") GROUP BY begin_ns, batch)");
	status = clickhouse_run_text(db, &sql, err);
	text_clear(&sql);
	text_str(&sql, "INSERT INTO sweeps SELECT toUInt64(");
	text_u64(&sql, to);
	text_char(&sql, ')');
	if (status == TALLY_OK)
		status = clickhouse_run_text(db, &sql, err);
	if (status == TALLY_OK)
		db->swept = to;
	/* Attempts on days that are completely swept need not be recorded any longer. */
	if (status == TALLY_OK)
		status = clickhouse_drop_before(db, "attempts", (to >> CLICKHOUSE_ATTEMPT_BITS) / SECONDS_OF_DAY, err);
	text_deinit(&sql);
	return status;
}

static void clickhouse_put_times(struct text *sql, struct store_range range)
{
	text_str(sql, "begin_ns >= ");
	text_u64(sql, range.begin_ns);
	text_str(sql, " AND begin_ns < ");
	text_u64(sql, range.end_ns);
}

void clickhouse_put_range(const struct clickhouse_db *db, struct text *sql, struct store_range range)
{
	clickhouse_put_times(sql, range);
	text_str(sql, " AND ((attempt < ");
	text_u64(sql, db->swept);
	text_str(sql, " AND attempt NOT IN (SELECT attempt FROM void_attempts)) OR (attempt >= ");
	text_u64(sql, db->swept);
	text_str(sql,
		" AND attempt IN (SELECT min(attempt) FROM batches WHERE (begin_ns, batch) IN (SELECT begin_ns, batch "
		"FROM batches WHERE attempt >= ");
	text_u64(sql, db->swept);
	text_str(sql, " AND ");
	clickhouse_put_times(sql, range);
	text_str(sql, ") GROUP BY begin_ns, batch)))");
}

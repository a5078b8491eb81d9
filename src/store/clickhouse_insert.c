/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <sys/random.h>

#include "base/array.h"
#include "base/error.h"
#include "base/hash.h"
#include "store/clickhouse_db.h"
#include "store/content_id.h"

/* Tables that store each row only once. */
enum clickhouse_table { TABLE_SERIES, TABLE_LABELS, TABLE_BINARIES, TABLE_LOCATIONS, TABLE_STACKS, CLICKHOUSE_TABLES };
enum { KNOWN_ROW = 1, KNOWN_SYMBOLS };

static const struct clickhouse_table_text {
	const char *insert, *id, *name;
} clickhouse_table_texts[] = {
	[TABLE_SERIES] = {"INSERT INTO series (day, series, event, labels, thread_labels)", "series", "series"},
	[TABLE_LABELS] = {"INSERT INTO label_sets (period, labels, name, value)", "labels", "label_sets"},
	[TABLE_BINARIES] = {"INSERT INTO binaries (period, binary, name, path, build_id, is_kernel)", "binary",
		"binaries"},
	[TABLE_LOCATIONS] =
		{"INSERT INTO locations (period, location, binary, address, level, functions, files, lines, "
		 "starts, sizes, is_start, has_symbols)",
			"location", "locations"},
	[TABLE_STACKS] = {"INSERT INTO stacks (period, stack, locations)", "stack", "stacks"},
};

/* Batches that are inserted together. */
struct clickhouse_job {
	struct clickhouse_db *db;
	const struct store_rows *rows;
	size_t count;
	struct store_receipt *receipts;
	bool *is_out; /* One per batch: whether it is refused, a duplicate or without symbols. */
	uint64_t *attempts; /* One number per batch. */
	uint64_t begin_s; /* Start of the job in seconds since 1970. */
	struct text tables[CLICKHOUSE_TABLES], begun, batches, windows, samples;
	struct map_u64 added; /* Rows of this job, which are remembered as stored (db->known) after the insertion. */
};

/* Number of the period in which a table stores each row once: a day for series, CLICKHOUSE_PERIOD_DAYS for others. */
static uint32_t clickhouse_period(enum clickhouse_table table, const struct store_rows *rows)
{
	uint32_t day = (uint32_t)(rows->batch->begin_ns / CLICKHOUSE_DAY_NS);
	return table == TABLE_SERIES ? day : day / CLICKHOUSE_PERIOD_DAYS;
}

static uint64_t clickhouse_known_key(enum clickhouse_table table, uint32_t period, uint64_t id)
{
	/* IDs are hashes; another constant for each table and period keeps the keys distinct. */
	return id ^ ((uint64_t)table << 32 | period) * HASH_FACTOR;
}

static uint64_t clickhouse_known(
	const struct clickhouse_job *job, enum clickhouse_table table, uint32_t period, uint64_t id)
{
	uint64_t key = clickhouse_known_key(table, period, id), known = 0, added = 0;
	map_u64_find(&job->db->known, key, &known);
	map_u64_find(&job->added, key, &added);
	return MAX(known, added);
}

/* ---- IDs of a batch's rows ---- */

static uint64_t clickhouse_series_id(const struct store_rows *rows, const struct store_part *part)
{
	struct content_id c = content_id_begin(CONTENT_SERIES);
	content_id_text(&c, rows->events.items[part->event].name);
	content_id_number(&c, rows->sets.items[0].id);
	content_id_number(&c, rows->sets.items[part->set].id);
	return content_id_end(&c);
}

static size_t clickhouse_row_count(const struct store_rows *rows, enum clickhouse_table table)
{
	switch (table) {
	case TABLE_SERIES:
		return rows->parts.len;
	case TABLE_LABELS:
		return rows->sets.len;
	case TABLE_BINARIES:
		return rows->binaries.len;
	case TABLE_LOCATIONS:
		return rows->locations.len;
	case TABLE_STACKS:
		return rows->stacks.len;
	case CLICKHOUSE_TABLES:
		break;
	}
	return 0;
}

static uint64_t clickhouse_row_id(const struct store_rows *rows, enum clickhouse_table table, size_t index)
{
	switch (table) {
	case TABLE_SERIES:
		return clickhouse_series_id(rows, &rows->parts.items[index]);
	case TABLE_LABELS:
		return rows->sets.items[index].id;
	case TABLE_BINARIES:
		return rows->binaries.items[index].id;
	case TABLE_LOCATIONS:
		return rows->locations.items[index].id;
	case TABLE_STACKS:
		return rows->stacks.items[index].id;
	case CLICKHOUSE_TABLES:
		break;
	}
	return 0;
}

/* ---- known rows ---- */

/* Asks the database which of the batch's rows it has, except those that are known to be stored, and notes the
 * answer. */
static enum tally_status clickhouse_ask_known(
	struct clickhouse_job *job, const struct store_rows *rows, enum clickhouse_table table, struct tally_error *err)
{
	const struct clickhouse_table_text *texts = &clickhouse_table_texts[table];
	struct text sql = {0}, answer = {0};
	uint32_t period = clickhouse_period(table, rows);
	size_t asked = 0;
	text_str(&sql, "SELECT ");
	text_str(&sql, texts->id);
	text_str(&sql, table == TABLE_LOCATIONS ? ", toUInt64(1 + max(has_symbols)) FROM " : ", toUInt64(1) FROM ");
	text_str(&sql, texts->name);
	text_str(&sql, table == TABLE_SERIES ? " WHERE day = " : " WHERE period = ");
	text_u64(&sql, period);
	text_str(&sql, " AND ");
	text_str(&sql, texts->id);
	text_str(&sql, " IN (");
	for (size_t i = 0; i < clickhouse_row_count(rows, table); i++) {
		uint64_t id = clickhouse_row_id(rows, table, i);
		if (clickhouse_known(job, table, period, id))
			continue;
		text_str(&sql, asked++ ? "," : "");
		text_u64(&sql, id);
	}
	text_str(&sql, ") GROUP BY ");
	text_str(&sql, texts->id);
	enum tally_status status = sql.failed ? error_nomem(err) : TALLY_OK;
	if (status == TALLY_OK && asked)
		status = clickhouse_client_ask(job->db->client, text_view(&sql), &answer, err);
	struct cursor c = row_cursor(&answer);
	while (status == TALLY_OK && cursor_left(&c)) {
		uint64_t id = cursor_u64(&c), known = cursor_u64(&c);
		if (!c.failed && !map_u64_set(&job->db->known, clickhouse_known_key(table, period, id), known))
			status = error_nomem(err);
	}
	text_deinit(&sql);
	text_deinit(&answer);
	return status;
}

/* Copies locations that the sender sent without symbols and that the database has in another period. */
static enum tally_status clickhouse_copy_left_out(
	struct clickhouse_job *job, const struct store_rows *rows, struct tally_error *err)
{
	uint32_t period = clickhouse_period(TABLE_LOCATIONS, rows);
	struct text sql = {0};
	size_t asked = 0;
	text_str(&sql, "INSERT INTO locations SELECT toUInt32(");
	text_u64(&sql, period);
	text_str(&sql,
		") AS period, location, binary, address, level, functions, files, lines, starts, sizes, is_start, "
		"has_symbols FROM locations WHERE has_symbols = 1 AND location IN (");
	for (size_t i = 0; i < rows->locations.len; i++) {
		const struct store_location *location = &rows->locations.items[i];
		if (!location->is_left_out ||
			clickhouse_known(job, TABLE_LOCATIONS, period, location->id) == KNOWN_SYMBOLS)
			continue;
		text_str(&sql, asked++ ? "," : "");
		text_u64(&sql, location->id);
	}
	text_str(&sql, ") LIMIT 1 BY location");
	enum tally_status status = sql.failed ? error_nomem(err) : TALLY_OK;
	if (status == TALLY_OK && asked)
		status = clickhouse_client_run(job->db->client, text_view(&sql), true, err);
	text_deinit(&sql);
	return status != TALLY_OK || !asked ? status : clickhouse_ask_known(job, rows, TABLE_LOCATIONS, err);
}

static bool clickhouse_lacks_symbols(const struct clickhouse_job *job, const struct store_rows *rows)
{
	uint32_t period = clickhouse_period(TABLE_LOCATIONS, rows);
	for (size_t i = 0; i < rows->locations.len; i++)
		if (rows->locations.items[i].is_left_out &&
			clickhouse_known(job, TABLE_LOCATIONS, period, rows->locations.items[i].id) != KNOWN_SYMBOLS)
			return true;
	return false;
}

/* Marks the batches that were stored before as duplicates. */
static enum tally_status clickhouse_find_duplicates(struct clickhouse_job *job, struct tally_error *err)
{
	struct text sql = {0}, answer = {0};
	text_str(&sql, "SELECT DISTINCT batch FROM batches WHERE (begin_ns, batch) IN (");
	size_t asked = 0;
	for (size_t i = 0; i < job->count; i++) {
		const struct fleet_batch *batch = job->rows[i].batch;
		if (job->is_out[i])
			continue;
		text_str(&sql, asked++ ? ",(" : "(");
		text_u64(&sql, batch->begin_ns);
		text_str(&sql, ",unhex('");
		for (size_t k = 0; k < sizeof(batch->id); k++)
			text_hex(&sql, batch->id[k], 2);
		text_str(&sql, "'))");
	}
	text_str(&sql, ")");
	enum tally_status status = sql.failed ? error_nomem(err) : TALLY_OK;
	if (status == TALLY_OK && asked)
		status = clickhouse_client_ask(job->db->client, text_view(&sql), &answer, err);
	struct cursor c = row_cursor(&answer);
	while (status == TALLY_OK && cursor_left(&c)) {
		const uint8_t *id = cursor_take(&c, FLEET_BATCH_ID_BYTES);
		for (size_t i = 0; id && i < job->count; i++)
			if (!job->is_out[i] && memcmp(id, job->rows[i].batch->id, FLEET_BATCH_ID_BYTES) == 0)
				job->receipts[i].is_duplicate = job->is_out[i] = true;
	}
	text_deinit(&sql);
	text_deinit(&answer);
	return status;
}

/* ---- rows ---- */

static void clickhouse_put_location(
	struct text *to, const struct store_rows *rows, const struct store_location *location)
{
	const struct store_frame *frames = rows->frames.items + location->first_frame;
	size_t count = location->frame_count;
	row_put_u64(to, location->id);
	row_put_u64(to, location->binary == STORE_NONE ? 0 : rows->binaries.items[location->binary].id);
	row_put_u64(to, location->address);
	row_put_u8(to, location->level);
	row_put_count(to, count);
	for (size_t i = 0; i < count; i++)
		row_put_text(to, frames[i].function);
	row_put_count(to, count);
	for (size_t i = 0; i < count; i++)
		row_put_text(to, frames[i].file);
	row_put_count(to, count);
	for (size_t i = 0; i < count; i++)
		row_put_u32(to, frames[i].line);
	row_put_count(to, count);
	for (size_t i = 0; i < count; i++)
		row_put_u64(to, frames[i].start);
	row_put_count(to, count);
	for (size_t i = 0; i < count; i++)
		row_put_u64(to, frames[i].size);
	row_put_count(to, count);
	for (size_t i = 0; i < count; i++)
		row_put_u8(to, frames[i].is_start);
	row_put_u8(to, count > 0);
}

/* Writes one row of a table, or all rows of a label set. */
static void clickhouse_put_row(
	struct text *to, const struct store_rows *rows, enum clickhouse_table table, uint32_t period, size_t index)
{
	if (table != TABLE_LABELS)
		row_put_u32(to, period);
	if (table == TABLE_SERIES) {
		const struct store_part *part = &rows->parts.items[index];
		row_put_u64(to, clickhouse_series_id(rows, part));
		row_put_text(to, rows->events.items[part->event].name);
		row_put_u64(to, rows->sets.items[0].id);
		row_put_u64(to, rows->sets.items[part->set].id);
	} else if (table == TABLE_LABELS) {
		const struct store_set *set = &rows->sets.items[index];
		for (size_t i = 0; i < set->labels.count; i++) {
			row_put_u32(to, period);
			row_put_u64(to, set->id);
			row_put_text(to, set->labels.items[i].name);
			row_put_text(to, set->labels.items[i].value);
		}
	} else if (table == TABLE_BINARIES) {
		const struct store_binary *binary = &rows->binaries.items[index];
		row_put_u64(to, binary->id);
		row_put_text(to, binary->name);
		row_put_text(to, binary->path);
		row_put_text(to, binary->build_id);
		row_put_u8(to, binary->is_kernel);
	} else if (table == TABLE_LOCATIONS) {
		clickhouse_put_location(to, rows, &rows->locations.items[index]);
	} else {
		const struct store_stack *stack = &rows->stacks.items[index];
		row_put_u64(to, stack->id);
		row_put_count(to, stack->count);
		for (size_t i = 0; i < stack->count; i++)
			row_put_u64(to, rows->locations.items[rows->stack_locations.items[stack->first + i]].id);
	}
}

/* Adds the rows that the table lacks, and those of locations that it has without symbols. */
static bool clickhouse_add_table(struct clickhouse_job *job, const struct store_rows *rows, enum clickhouse_table table)
{
	uint32_t period = clickhouse_period(table, rows);
	for (size_t i = 0; i < clickhouse_row_count(rows, table); i++) {
		uint64_t id = clickhouse_row_id(rows, table, i);
		bool has_symbols = table == TABLE_LOCATIONS && rows->locations.items[i].frame_count > 0;
		uint64_t value = has_symbols ? KNOWN_SYMBOLS : KNOWN_ROW;
		if (clickhouse_known(job, table, period, id) >= value)
			continue;
		clickhouse_put_row(&job->tables[table], rows, table, period, i);
		if (!map_u64_set(&job->added, clickhouse_known_key(table, period, id), value))
			return false;
	}
	return true;
}

static void clickhouse_add_samples(struct clickhouse_job *job, const struct store_rows *rows, uint64_t attempt)
{
	struct text *to = &job->samples;
	uint32_t last_part = STORE_NONE; /* Samples are ordered by part, so each part's ID is computed once. */
	uint64_t series = 0;
	for (size_t i = 0; i < rows->samples.len; i++) {
		const struct store_sample *sample = &rows->samples.items[i];
		if (sample->part != last_part)
			series = clickhouse_series_id(rows, &rows->parts.items[sample->part]);
		last_part = sample->part;
		const struct store_thread *thread = &rows->threads.items[sample->thread];
		row_put_u64(to, series);
		row_put_u64(to, rows->batch->begin_ns);
		row_put_u64(to, attempt);
		row_put_u64(to, sample->stack == STORE_NONE ? 0 : rows->stacks.items[sample->stack].id);
		row_put_u8(to, (uint8_t)(int8_t)sample->state);
		row_put_u32(to, (uint32_t)thread->pid);
		row_put_u32(to, (uint32_t)thread->tid);
		row_put_text(to, thread->comm);
		row_put_text(to, thread->process_comm);
		row_put_u64(to, sample->count);
		row_put_u64(to, sample->value);
	}
	for (size_t i = 0; i < rows->parts.len; i++) {
		const struct store_part *part = &rows->parts.items[i];
		row_put_u64(&job->windows, clickhouse_series_id(rows, part));
		row_put_u64(&job->windows, rows->batch->begin_ns);
		row_put_u64(&job->windows, attempt);
		row_put_u64(&job->windows, part->samples);
		row_put_u64(&job->windows, part->running_ns);
		row_put_u64(&job->windows, part->waiting_ns);
	}
}

static void clickhouse_add_batch(struct clickhouse_job *job, const struct store_rows *rows, uint64_t attempt)
{
	struct text *to = &job->batches;
	const struct fleet_batch *batch = rows->batch;
	row_put_u64(&job->begun, attempt);
	row_put_u64(&job->begun, batch->begin_ns);
	text_bytes(&job->begun, (const char *)batch->id, sizeof(batch->id));
	text_bytes(to, (const char *)batch->id, sizeof(batch->id));
	row_put_u64(to, attempt);
	row_put_u64(to, batch->begin_ns);
	row_put_u64(to, batch->end_ns);
	row_put_u64(to, rows->sample_count);
	row_put_u64(to, rows->sets.items[0].id);
	row_put_u64(to, batch->losses.lost_samples);
	row_put_u64(to, batch->losses.dropped_batches);
	row_put_u64(to, batch->losses.dropped_samples);
	row_put_u64(to, batch->losses.own_cpu_ns);
	row_put_u64(to, batch->losses.own_bytes);
	row_put_u64(to, batch->losses.frequency_hz);
}

/* ---- inserting ---- */

static enum tally_status clickhouse_add_rows(struct clickhouse_job *job, size_t index, struct tally_error *err)
{
	const struct store_rows *rows = &job->rows[index];
	enum tally_status status = TALLY_OK;
	for (size_t i = 0; i < index; i++)
		if (!job->is_out[i] && memcmp(job->rows[i].batch->id, rows->batch->id, FLEET_BATCH_ID_BYTES) == 0)
			job->receipts[index].is_duplicate = job->is_out[index] = true;
	if (job->is_out[index])
		return TALLY_OK;
	for (enum clickhouse_table table = 0; table < CLICKHOUSE_TABLES && status == TALLY_OK; table++)
		status = clickhouse_ask_known(job, rows, table, err);
	if (status == TALLY_OK)
		status = clickhouse_copy_left_out(job, rows, err);
	if (status != TALLY_OK)
		return status;
	if (clickhouse_lacks_symbols(job, rows)) {
		job->receipts[index].lacks_symbols = job->is_out[index] = true;
		return TALLY_OK;
	}
	bool ok = true;
	for (enum clickhouse_table table = 0; ok && table < CLICKHOUSE_TABLES; table++)
		ok = clickhouse_add_table(job, rows, table);
	clickhouse_add_samples(job, rows, job->attempts[index]);
	clickhouse_add_batch(job, rows, job->attempts[index]);
	job->receipts[index].samples = rows->sample_count;
	return ok ? TALLY_OK : error_nomem(err);
}

/* The row in batches comes last, because it makes all others count. After the time limit it is not inserted, since a
 * sweep may count the attempt as failed. */
static enum tally_status clickhouse_send_rows(struct clickhouse_job *job, struct tally_error *err)
{
	enum tally_status status = clickhouse_client_insert(
		job->db->client, "INSERT INTO attempts (attempt, begin_ns, batch)", &job->begun, err);
	for (enum clickhouse_table table = 0; table < CLICKHOUSE_TABLES && status == TALLY_OK; table++)
		status = clickhouse_client_insert(
			job->db->client, clickhouse_table_texts[table].insert, &job->tables[table], err);
	if (status == TALLY_OK)
		status = clickhouse_client_insert(job->db->client,
			"INSERT INTO samples (series, begin_ns, attempt, stack, state, pid, tid, comm, process_comm, "
			"count, value)",
			&job->samples, err);
	if (status == TALLY_OK)
		status = clickhouse_client_insert(job->db->client,
			"INSERT INTO windows (series, begin_ns, attempt, samples, running_ns, waiting_ns)",
			&job->windows, err);
	if (status == TALLY_OK && clickhouse_seconds() - job->begin_s > CLICKHOUSE_COMMIT_S)
		status = error_set(err, TALLY_IO,
			"ClickHouse took longer than %u s to insert %zu batches: send them again", CLICKHOUSE_COMMIT_S,
			job->count);
	if (status == TALLY_OK)
		status = clickhouse_client_insert(job->db->client,
			"INSERT INTO batches (batch, attempt, begin_ns, end_ns, samples, labels, lost_samples, "
			"dropped_batches, dropped_samples, own_cpu_ns, own_bytes, frequency_hz)",
			&job->batches, err);
	return status;
}

/* Rows that cannot be remembered are queried again. */
static void clickhouse_remember(struct clickhouse_job *job)
{
	uint64_t key, value;
	size_t position = 0;
	while (map_u64_next(&job->added, &position, &key, &value))
		if (!map_u64_set(&job->db->known, key, value))
			return;
}

/* The attempts of one job have consecutive numbers. */
static enum tally_status clickhouse_make_attempts(struct clickhouse_job *job, struct tally_error *err)
{
	const uint64_t mask = (UINT64_C(1) << CLICKHOUSE_ATTEMPT_BITS) - 1;
	uint64_t random;
	if (getrandom(&random, sizeof(random), 0) != (ssize_t)sizeof(random))
		return error_set(err, TALLY_IO, "cannot get a random number");
	job->begin_s = clickhouse_seconds();
	for (size_t i = 0; i < job->count; i++)
		job->attempts[i] = job->begin_s << CLICKHOUSE_ATTEMPT_BITS | ((random + i) & mask);
	return TALLY_OK;
}

static enum tally_status clickhouse_job_run(struct clickhouse_job *job, struct tally_error *err)
{
	enum tally_status status = clickhouse_make_attempts(job, err);
	if (status != TALLY_OK)
		return status;
	for (size_t i = 0; i < job->count; i++)
		job->is_out[i] = job->receipts[i].refused != NULL;
	status = clickhouse_find_duplicates(job, err);
	for (size_t i = 0; i < job->count && status == TALLY_OK; i++)
		if (!job->is_out[i])
			status = clickhouse_add_rows(job, i, err);
	if (status == TALLY_OK)
		status = clickhouse_send_rows(job, err);
	if (status == TALLY_OK)
		clickhouse_remember(job);
	return status;
}

enum tally_status clickhouse_db_insert(
	void *db, const struct store_rows *rows, size_t count, struct store_receipt *receipts, struct tally_error *err)
{
	struct clickhouse_db *d = db;
	if (d->known.len > CLICKHOUSE_KNOWN_MAX) {
		map_u64_deinit(&d->known);
		d->known = (struct map_u64){0};
	}
	struct clickhouse_job job = {.db = d, .rows = rows, .count = count, .receipts = receipts};
	job.is_out = calloc(count + 1, sizeof(*job.is_out));
	job.attempts = calloc(count + 1, sizeof(*job.attempts));
	enum tally_status status = TALLY_OK;
	if (!job.is_out || !job.attempts)
		status = error_nomem(err);
	if (status == TALLY_OK && count > 0)
		status = clickhouse_job_run(&job, err);
	for (enum clickhouse_table table = 0; table < CLICKHOUSE_TABLES; table++)
		text_deinit(&job.tables[table]);
	text_deinit(&job.begun);
	text_deinit(&job.batches);
	text_deinit(&job.windows);
	text_deinit(&job.samples);
	map_u64_deinit(&job.added);
	free(job.is_out);
	free(job.attempts);
	return status;
}

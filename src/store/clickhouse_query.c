/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "base/array.h"
#include "base/error.h"
#include "store/clickhouse_db.h"

/* Maximum number of IDs in one statement; more IDs require several statements. */
#define CLICKHOUSE_IDS_MAX 20000

/* Appends "(1,2,3)". */
static void clickhouse_put_ids(struct text *sql, const uint64_t *ids, size_t count)
{
	text_char(sql, '(');
	for (size_t i = 0; i < count; i++) {
		text_str(sql, i ? "," : "");
		text_u64(sql, ids[i]);
	}
	text_char(sql, ')');
}

static enum tally_status clickhouse_query(
	struct clickhouse_db *db, const struct text *sql, struct text *answer, struct tally_error *err)
{
	return sql->failed ? error_nomem(err) : clickhouse_client_ask(db->client, text_view(sql), answer, err);
}

/* Reports an answer that ended within a row; called after its rows have been read. */
static enum tally_status clickhouse_check(const struct cursor *c, struct tally_error *err)
{
	return c->failed ? error_set_at(
				   err, TALLY_CORRUPT, c->pos, "the answer of ClickHouse ends in the middle of a row")
			 : TALLY_OK;
}

/* ---- series ---- */

static enum tally_status clickhouse_list_labels(struct clickhouse_db *db, struct tally_str series,
	const struct store_series_take *take, struct tally_error *err)
{
	struct text sql = {0}, answer = {0};
	text_str(&sql,
		"SELECT labels, name, any(value) FROM label_sets WHERE labels IN (SELECT labels FROM series WHERE ");
	text_bytes(&sql, series.data, series.len);
	text_str(&sql, ") OR labels IN (SELECT thread_labels FROM series WHERE ");
	text_bytes(&sql, series.data, series.len);
	text_str(&sql, ") GROUP BY labels, name");
	enum tally_status status = clickhouse_query(db, &sql, &answer, err);
	struct cursor c = row_cursor(&answer);
	while (status == TALLY_OK && cursor_left(&c)) {
		uint64_t set = cursor_u64(&c);
		struct tally_str name = row_get_text(&c), value = row_get_text(&c);
		status = clickhouse_check(&c, err);
		if (status == TALLY_OK && !take->label(take->context, set, name, value))
			break;
	}
	text_deinit(&sql);
	text_deinit(&answer);
	return status;
}

enum tally_status clickhouse_db_list_series(
	void *db, struct store_range range, const struct store_series_take *take, struct tally_error *err)
{
	struct text where = {0}, sql = {0}, answer = {0};
	text_str(&where, "day >= ");
	text_u64(&where, range.begin_ns / CLICKHOUSE_DAY_NS);
	text_str(&where, " AND day <= ");
	text_u64(&where, MIN(range.end_ns / CLICKHOUSE_DAY_NS, UINT32_MAX));
	text_str(&sql, "SELECT DISTINCT series, labels, thread_labels, event FROM series WHERE ");
	text_bytes(&sql, where.data ? where.data : "", where.len);
	enum tally_status status =
		where.failed ? error_nomem(err) : clickhouse_list_labels(db, text_view(&where), take, err);
	if (status == TALLY_OK)
		status = clickhouse_query(db, &sql, &answer, err);
	struct cursor c = row_cursor(&answer);
	while (status == TALLY_OK && cursor_left(&c)) {
		struct store_series series = {.id = cursor_u64(&c)};
		series.labels = cursor_u64(&c);
		series.thread_labels = cursor_u64(&c);
		series.event = row_get_text(&c);
		status = clickhouse_check(&c, err);
		if (status == TALLY_OK && !take->series(take->context, &series))
			break;
	}
	text_deinit(&where);
	text_deinit(&sql);
	text_deinit(&answer);
	return status;
}

/* ---- samples and windows of series ---- */

/* Maps each ID to its index. */
static enum tally_status clickhouse_index(
	const uint64_t *ids, size_t count, struct map_u64 *index, struct tally_error *err)
{
	for (size_t i = 0; i < count; i++)
		if (!map_u64_set(index, ids[i], i))
			return error_nomem(err);
	return TALLY_OK;
}

/* A query of rows of series in a range, in as many statements as the number of series requires. */
struct clickhouse_series_query {
	const char *before, *after; /* The statement before and after the conditions. */
	const uint64_t *series;
	size_t count;
	struct store_range range;
	/* `index` maps the ID of a series to its index; *goes_on becomes false if no further row is needed. */
	enum tally_status (*take)(
		void *context, const struct map_u64 *index, struct cursor *c, bool *goes_on, struct tally_error *err);
	void *context;
};

static enum tally_status clickhouse_ask_series(
	struct clickhouse_db *db, const struct clickhouse_series_query *q, bool *goes_on, struct tally_error *err)
{
	struct map_u64 index = {0};
	enum tally_status status = clickhouse_index(q->series, q->count, &index, err);
	*goes_on = true;
	for (size_t first = 0; first < q->count && *goes_on && status == TALLY_OK; first += CLICKHOUSE_IDS_MAX) {
		struct text sql = {0}, answer = {0};
		text_str(&sql, q->before);
		text_str(&sql, " WHERE series IN ");
		clickhouse_put_ids(&sql, q->series + first, MIN(q->count - first, (size_t)CLICKHOUSE_IDS_MAX));
		text_str(&sql, " AND ");
		clickhouse_put_range(db, &sql, q->range);
		text_str(&sql, q->after);
		status = clickhouse_query(db, &sql, &answer, err);
		struct cursor c = row_cursor(&answer);
		if (status == TALLY_OK)
			status = q->take(q->context, &index, &c, goes_on, err);
		text_deinit(&sql);
		text_deinit(&answer);
	}
	map_u64_deinit(&index);
	return status;
}

static enum tally_status clickhouse_take_series(
	void *context, const struct map_u64 *index, struct cursor *c, bool *goes_on, struct tally_error *err)
{
	bool *has = context;
	while (cursor_left(c)) {
		uint64_t at, series = cursor_u64(c);
		if (!c->failed && map_u64_find(index, series, &at))
			has[at] = true;
	}
	return clickhouse_check(c, err);
}

enum tally_status clickhouse_db_find_windows(
	void *db, struct store_range range, const uint64_t *series, size_t count, bool *has, struct tally_error *err)
{
	const struct clickhouse_series_query query = {
		"SELECT DISTINCT series FROM windows", "", series, count, range, clickhouse_take_series, has};
	bool goes_on;
	memset(has, 0, count * sizeof(*has));
	return clickhouse_ask_series(db, &query, &goes_on, err);
}

static enum tally_status clickhouse_take_sums(
	void *context, const struct map_u64 *index, struct cursor *c, bool *goes_on, struct tally_error *err)
{
	const struct store_scan *scan = context;
	enum tally_status status = TALLY_OK;
	while (*goes_on && status == TALLY_OK && cursor_left(c)) {
		uint64_t series = 0;
		bool is_known = map_u64_find(index, cursor_u64(c), &series);
		struct store_sum sum = {.series = (uint32_t)series, .state = (int8_t)cursor_u8(c)};
		sum.pid = scan->by_thread ? (int32_t)cursor_u32(c) : 0;
		sum.tid = scan->by_thread ? (int32_t)cursor_u32(c) : 0;
		struct tally_str comm = row_get_text(c), process = row_get_text(c);
		sum.stack = cursor_u64(c);
		sum.count = cursor_u64(c);
		sum.value = cursor_u64(c);
		status = clickhouse_check(c, err);
		if (status != TALLY_OK || !is_known)
			continue;
		sum.comm = scan->string(scan->context, comm);
		sum.process_comm = scan->string(scan->context, process);
		*goes_on = sum.comm != STORE_NONE && sum.process_comm != STORE_NONE && scan->take(scan->context, &sum);
	}
	return status;
}

/* A sum of integers wraps around, so the largest number replaces a sum that would. */
#define CLICKHOUSE_SUMS                                                                                            \
	", sum(count), if(sum(toFloat64(value)) >= 18446744073709551615., 18446744073709551615, sum(value)) FROM " \
	"samples"
#define CLICKHOUSE_KEYS	       "series, state, comm, process_comm, stack"
#define CLICKHOUSE_THREAD_KEYS "series, state, pid, tid, comm, process_comm, stack"

enum tally_status clickhouse_db_list_sums(void *db, const struct store_scan *scan, struct tally_error *err)
{
	const struct clickhouse_series_query query = {scan->by_thread ? "SELECT " CLICKHOUSE_THREAD_KEYS CLICKHOUSE_SUMS
								      : "SELECT " CLICKHOUSE_KEYS CLICKHOUSE_SUMS,
		scan->by_thread ? " GROUP BY " CLICKHOUSE_THREAD_KEYS : " GROUP BY " CLICKHOUSE_KEYS, scan->series,
		scan->series_count, scan->range, clickhouse_take_sums, (void *)scan};
	bool goes_on;
	return clickhouse_ask_series(db, &query, &goes_on, err);
}

static enum tally_status clickhouse_take_windows(
	void *context, const struct map_u64 *index, struct cursor *c, bool *goes_on, struct tally_error *err)
{
	const struct store_window_scan *scan = context;
	enum tally_status status = TALLY_OK;
	while (*goes_on && status == TALLY_OK && cursor_left(c)) {
		uint64_t series = 0;
		bool is_known = map_u64_find(index, cursor_u64(c), &series);
		struct store_window window = {.series = (uint32_t)series, .begin_ns = cursor_u64(c)};
		window.end_ns = cursor_u64(c);
		window.samples = cursor_u64(c);
		window.running_ns = cursor_u64(c);
		window.waiting_ns = cursor_u64(c);
		status = clickhouse_check(c, err);
		if (status == TALLY_OK && is_known)
			*goes_on = scan->take(scan->context, &window);
	}
	return status;
}

static enum tally_status clickhouse_list_losses(
	struct clickhouse_db *db, const struct store_window_scan *scan, struct tally_error *err)
{
	struct text sql = {0}, answer = {0};
	text_str(&sql, "SELECT begin_ns, end_ns, labels, lost_samples + dropped_samples FROM batches WHERE "
		       "lost_samples + dropped_samples > 0 AND ");
	clickhouse_put_range(db, &sql, scan->range);
	enum tally_status status = clickhouse_query(db, &sql, &answer, err);
	struct cursor c = row_cursor(&answer);
	bool goes_on = true;
	while (goes_on && status == TALLY_OK && cursor_left(&c)) {
		struct store_window window = {.series = STORE_NONE, .begin_ns = cursor_u64(&c)};
		window.end_ns = cursor_u64(&c);
		window.labels = cursor_u64(&c);
		window.lost_samples = cursor_u64(&c);
		status = clickhouse_check(&c, err);
		if (status == TALLY_OK)
			goes_on = scan->take(scan->context, &window);
	}
	text_deinit(&sql);
	text_deinit(&answer);
	return status;
}

/* Extends the range to the start of the first window that overlaps it. */
static enum tally_status clickhouse_widen(
	struct clickhouse_db *db, struct store_window_scan *scan, struct tally_error *err)
{
	struct text sql = {0}, answer = {0};
	uint64_t begin = scan->range.begin_ns;
	if (!scan->reaches_in)
		return TALLY_OK;
	text_str(&sql, "SELECT min(begin_ns) FROM batches WHERE begin_ns >= ");
	text_u64(&sql, begin - MIN(begin, STORE_REACH_NS));
	text_str(&sql, " AND begin_ns < ");
	text_u64(&sql, begin);
	text_str(&sql, " AND end_ns > ");
	text_u64(&sql, begin);
	enum tally_status status = clickhouse_query(db, &sql, &answer, err);
	struct cursor c = row_cursor(&answer);
	if (status == TALLY_OK && cursor_left(&c)) {
		uint64_t first = cursor_u64(&c); /* 0 if there is none. */
		status = clickhouse_check(&c, err);
		scan->range.begin_ns = first ? MIN(first, begin) : begin;
	}
	text_deinit(&sql);
	text_deinit(&answer);
	return status;
}

enum tally_status clickhouse_db_list_windows(void *db, const struct store_window_scan *scan, struct tally_error *err)
{
	struct store_window_scan wide = *scan;
	struct text after = {0};
	bool goes_on = true;
	enum tally_status status = clickhouse_widen(db, &wide, err);
	/* The end of a window is in the table of batches. In a damaged store, a window without a batch has no
	 * length. */
	text_str(&after, ") ANY LEFT JOIN (SELECT attempt, max(end_ns) AS end_ns FROM batches WHERE begin_ns >= ");
	text_u64(&after, wide.range.begin_ns);
	text_str(&after, " AND begin_ns < ");
	text_u64(&after, wide.range.end_ns);
	text_str(&after, " GROUP BY attempt) USING attempt GROUP BY series, begin_ns, end_ns");
	text_char(&after, '\0');
	if (status == TALLY_OK && after.failed)
		status = error_nomem(err);
	const struct clickhouse_series_query query = {
		"SELECT series, begin_ns, end_ns, sum(samples), sum(running_ns), sum(waiting_ns) FROM (SELECT series, "
		"begin_ns, attempt, samples, running_ns, waiting_ns FROM windows",
		after.data, scan->series, scan->series_count, wide.range, clickhouse_take_windows, (void *)scan};
	if (status == TALLY_OK)
		status = clickhouse_ask_series(db, &query, &goes_on, err);
	text_deinit(&after);
	return status != TALLY_OK || !goes_on ? status : clickhouse_list_losses(db, &wide, err);
}

/* ---- stacks and locations ---- */

static enum tally_status clickhouse_take_stacks(
	const struct store_stack_list *list, const struct text *answer, bool *goes_on, struct tally_error *err)
{
	enum tally_status status = TALLY_OK;
	struct cursor c = row_cursor(answer);
	VEC(uint64_t) locations = {0};
	while (*goes_on && status == TALLY_OK && cursor_left(&c)) {
		uint64_t id = cursor_u64(&c), count = row_get_count(&c);
		if (cursor_count(&c, count, sizeof(uint64_t)) && !vec_reserve(&locations, (size_t)count))
			status = error_nomem(err);
		for (locations.len = 0; status == TALLY_OK && !c.failed && locations.len < count; locations.len++)
			locations.items[locations.len] = cursor_u64(&c);
		if (status == TALLY_OK)
			status = clickhouse_check(&c, err);
		if (status == TALLY_OK)
			*goes_on = list->take(list->context, id, locations.items, locations.len);
	}
	vec_free(&locations);
	return status;
}

/* A statement before and after a list of IDs. */
struct clickhouse_by_id {
	const char *before, *after;
};

/* A table may have several rows of one ID. They are equal, except that a location's row may lack symbols: one with
 * symbols is preferred. */
static const struct clickhouse_by_id clickhouse_stacks_by_id = {
	"SELECT stack, locations FROM stacks WHERE stack IN ", " LIMIT 1 BY stack"};
static const struct clickhouse_by_id clickhouse_locations_by_id = {
	"SELECT location, address, level, binary, name, path, build_id, is_kernel, functions, files, lines, starts, "
	"sizes, is_start FROM (SELECT * FROM locations WHERE location IN ",
	" ORDER BY has_symbols DESC LIMIT 1 BY location) ANY LEFT JOIN (SELECT binary, any(name) AS name, any(path) AS "
	"path, any(build_id) AS build_id, any(is_kernel) AS is_kernel FROM binaries GROUP BY binary) USING binary"};

/* Queries the first of the IDs, as many as one statement may contain. */
static enum tally_status clickhouse_list_by_id(struct clickhouse_db *db, const struct clickhouse_by_id *by_id,
	const uint64_t *ids, size_t count, struct text *answer, struct tally_error *err)
{
	struct text sql = {0};
	text_str(&sql, by_id->before);
	clickhouse_put_ids(&sql, ids, MIN(count, (size_t)CLICKHOUSE_IDS_MAX));
	text_str(&sql, by_id->after);
	enum tally_status status = clickhouse_query(db, &sql, answer, err);
	text_deinit(&sql);
	return status;
}

enum tally_status clickhouse_db_list_stacks(void *db, const struct store_stack_list *list, struct tally_error *err)
{
	enum tally_status status = TALLY_OK;
	bool goes_on = true;
	for (size_t first = 0; first < list->count && goes_on && status == TALLY_OK; first += CLICKHOUSE_IDS_MAX) {
		struct text answer = {0};
		status = clickhouse_list_by_id(
			db, &clickhouse_stacks_by_id, list->ids + first, list->count - first, &answer, err);
		if (status == TALLY_OK)
			status = clickhouse_take_stacks(list, &answer, &goes_on, err);
		text_deinit(&answer);
	}
	return status;
}

/* One location with its binary. */
struct clickhouse_row {
	struct store_location location;
	struct store_binary binary;
	VEC(struct store_frame) frames;
};

/* The arrays of a row have the same length, because they were written together. */
static bool clickhouse_get_frames(struct cursor *c, struct clickhouse_row *row)
{
	uint64_t count = row_get_count(c), other = 0;
	if (!cursor_count(c, count, 1) || !vec_reserve(&row->frames, (size_t)count))
		return false;
	row->frames.len = (size_t)count;
	for (size_t i = 0; i < count; i++)
		row->frames.items[i] = (struct store_frame){.function = row_get_text(c)};
	other |= row_get_count(c) ^ count;
	for (size_t i = 0; i < count; i++)
		row->frames.items[i].file = row_get_text(c);
	other |= row_get_count(c) ^ count;
	for (size_t i = 0; i < count; i++)
		row->frames.items[i].line = cursor_u32(c);
	other |= row_get_count(c) ^ count;
	for (size_t i = 0; i < count; i++)
		row->frames.items[i].start = cursor_u64(c);
	other |= row_get_count(c) ^ count;
	for (size_t i = 0; i < count; i++)
		row->frames.items[i].size = cursor_u64(c);
	other |= row_get_count(c) ^ count;
	for (size_t i = 0; i < count; i++)
		row->frames.items[i].is_start = cursor_u8(c);
	row->location.frame_count = (size_t)count;
	return other == 0 && !c->failed;
}

static enum tally_status clickhouse_take_locations(
	const struct store_location_list *list, const struct text *answer, bool *goes_on, struct tally_error *err)
{
	enum tally_status status = TALLY_OK;
	struct cursor c = row_cursor(answer);
	struct clickhouse_row row = {0};
	while (*goes_on && status == TALLY_OK && cursor_left(&c)) {
		row.location = (struct store_location){.id = cursor_u64(&c)};
		row.location.address = cursor_u64(&c);
		row.location.level = cursor_u8(&c);
		row.binary = (struct store_binary){.id = cursor_u64(&c)};
		row.binary.name = row_get_text(&c);
		row.binary.path = row_get_text(&c);
		row.binary.build_id = row_get_text(&c);
		row.binary.is_kernel = cursor_u8(&c);
		if (!clickhouse_get_frames(&c, &row))
			c.failed = true;
		status = clickhouse_check(&c, err);
		if (status == TALLY_OK)
			*goes_on = list->take(list->context, row.location.id, &row.location,
				row.binary.id ? &row.binary : NULL, row.frames.items);
	}
	vec_free(&row.frames);
	return status;
}

enum tally_status clickhouse_db_list_locations(
	void *db, const struct store_location_list *list, struct tally_error *err)
{
	enum tally_status status = TALLY_OK;
	bool goes_on = true;
	for (size_t first = 0; first < list->count && goes_on && status == TALLY_OK; first += CLICKHOUSE_IDS_MAX) {
		struct text answer = {0};
		status = clickhouse_list_by_id(
			db, &clickhouse_locations_by_id, list->ids + first, list->count - first, &answer, err);
		if (status == TALLY_OK)
			status = clickhouse_take_locations(list, &answer, &goes_on, err);
		text_deinit(&answer);
	}
	return status;
}

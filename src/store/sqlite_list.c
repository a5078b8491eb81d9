/* SPDX-License-Identifier: Apache-2.0 */
#include "store/sqlite_list.h"

#include <stdlib.h>

#include "base/error.h"
#include "base/order.h"

/* Maximum number of parts (one series in one batch each) in memory, 16 MB. They are sorted, so that the table of
 * samples is read from start to end. */
#define SQL_PARTS_AT_ONCE (1U << 20)

struct sqlite_part {
	uint64_t number;
	uint32_t series; /* Index in the scan. */
};

/* A thread as it is reported to the scan. */
struct sqlite_thread {
	int32_t pid, tid;
	uint32_t comm, process_comm;
};

struct sqlite_scanning {
	struct sqlite_store *store;
	const struct store_scan *scan;
	VEC(struct sqlite_part) parts;
	struct map_u64 threads; /* Maps the number of a thread to its index in found. */
	VEC(struct sqlite_thread) found;
	bool is_stopped;
};

/* Rows are returned one by one, so the caller itself checks the deadline. */
enum tally_status sqlite_begin_list(void *db, uint64_t deadline_ns, struct tally_error *err)
{
	(void)deadline_ns;
	struct sqlite_store *s = db;
	sqlite_run_plain(s, SQL_BEGIN_READING);
	return sqlite_status(s, err);
}

void sqlite_end_list(void *db)
{
	struct sqlite_store *s = db;
	sqlite_run_plain(s, SQL_ROLLBACK);
	(void)sqlite_status(s, NULL);
}

static void sqlite_list_corrupt(struct sqlite_store *s, const char *what, uint64_t number)
{
	struct tally_error error;
	(void)error_set(&error, TALLY_CORRUPT,
		"the store '%s' is damaged: it lacks %s %llu, which samples refer to; move the file away, and recover "
		"what is readable with 'sqlite3 FILE .recover'",
		s->path, what, (unsigned long long)number);
	sqlite_fail_with(s, &error);
}

static uint64_t sqlite_list_u64(sqlite3_stmt *row, int column)
{
	return (uint64_t)sqlite3_column_int64(row, column);
}

/* No window of the range uses a row with an older last_ns. */
static uint64_t sqlite_list_oldest(struct store_range range)
{
	return range.begin_ns > STORE_HOUR_NS ? MIN(range.begin_ns, INT64_MAX) - STORE_HOUR_NS : 0;
}

static uint64_t sqlite_list_end(struct store_range range)
{
	return MIN(range.end_ns, INT64_MAX);
}

enum tally_status sqlite_list_series(
	void *db, struct store_range range, const struct store_series_take *take, struct tally_error *err)
{
	struct sqlite_store *s = db;
	bool goes_on = true;
	sqlite3_stmt *row = sqlite_start(s, SQL_LIST_LABELS, SQL_ID(sqlite_list_oldest(range)));
	while (goes_on && sqlite_next(s, row))
		goes_on = take->label(take->context, sqlite_list_u64(row, 0), sqlite_text(row, 1), sqlite_text(row, 2));
	sqlite_end(row);
	row = sqlite_start(s, SQL_LIST_SERIES, SQL_ID(sqlite_list_oldest(range)));
	while (goes_on && sqlite_next(s, row)) {
		const struct store_series series = {
			sqlite_list_u64(row, 0), sqlite_list_u64(row, 1), sqlite_list_u64(row, 2), sqlite_text(row, 3)};
		goes_on = take->series(take->context, &series);
	}
	sqlite_end(row);
	return sqlite_status(s, err);
}

enum tally_status sqlite_find_windows(
	void *db, struct store_range range, const uint64_t *series, size_t count, bool *has, struct tally_error *err)
{
	struct sqlite_store *s = db;
	for (size_t i = 0; i < count; i++) {
		sqlite3_stmt *row = sqlite_start(s, SQL_HAS_WINDOWS, SQL_ID(series[i]),
			SQL_ID(MIN(range.begin_ns, INT64_MAX)), SQL_ID(sqlite_list_end(range)));
		has[i] = sqlite_next(s, row);
		sqlite_end(row);
	}
	return sqlite_status(s, err);
}

/* Returns the thread's index in found. */
static size_t sqlite_list_thread(struct sqlite_scanning *g, uint64_t number)
{
	uint64_t index;
	struct sqlite_store *s = g->store;
	if (map_u64_find(&g->threads, number, &index))
		return (size_t)index;
	sqlite3_stmt *row = sqlite_start(s, SQL_GET_THREAD, SQL_ID(number));
	if (!sqlite_next(s, row)) {
		if (!s->failed)
			sqlite_list_corrupt(s, "thread", number);
		return 0;
	}
	struct sqlite_thread thread = {0};
	if (g->scan->by_thread) {
		thread.pid = sqlite3_column_int(row, 0);
		thread.tid = sqlite3_column_int(row, 1);
	}
	thread.comm = g->scan->string(g->scan->context, sqlite_text(row, 2));
	thread.process_comm = g->scan->string(g->scan->context, sqlite_text(row, 3));
	g->is_stopped = g->is_stopped || thread.comm == STORE_NONE || thread.process_comm == STORE_NONE;
	sqlite_end(row);
	if (!map_u64_set(&g->threads, number, g->found.len) || !vec_push(&g->found, thread))
		sqlite_fail_nomem(s);
	return g->found.len ? g->found.len - 1 : 0;
}

static void sqlite_list_part(struct sqlite_scanning *g, const struct sqlite_part *part)
{
	struct sqlite_store *s = g->store;
	sqlite3_stmt *row = sqlite_start(s, SQL_LIST_SAMPLES, SQL_ID(part->number));
	while (!g->is_stopped && sqlite_next(s, row)) {
		size_t index = sqlite_list_thread(g, sqlite_list_u64(row, 1));
		if (s->failed || g->is_stopped)
			break;
		const struct sqlite_thread *thread = &g->found.items[index];
		const struct store_sum sum = {.series = part->series,
			.state = sqlite3_column_int(row, 2),
			.pid = thread->pid,
			.tid = thread->tid,
			.comm = thread->comm,
			.process_comm = thread->process_comm,
			.stack = sqlite_list_u64(row, 0),
			.count = sqlite_list_u64(row, 3),
			.value = sqlite_list_u64(row, 4)};
		g->is_stopped = !g->scan->take(g->scan->context, &sum);
	}
	sqlite_end(row);
}

static int sqlite_compare_parts(const void *left, const void *right)
{
	const struct sqlite_part *a = left, *b = right;
	return COMPARE(a->number, b->number);
}

static void sqlite_list_parts(struct sqlite_scanning *g)
{
	if (g->parts.len > 1)
		qsort(g->parts.items, g->parts.len, sizeof(*g->parts.items), sqlite_compare_parts);
	for (size_t i = 0; !g->store->failed && !g->is_stopped && i < g->parts.len; i++)
		sqlite_list_part(g, &g->parts.items[i]);
	g->parts.len = 0;
}

static void sqlite_find_parts(struct sqlite_scanning *g, size_t series)
{
	struct sqlite_store *s = g->store;
	const struct store_range *range = &g->scan->range;
	sqlite3_stmt *row = sqlite_start(s, SQL_LIST_PARTS, SQL_ID(g->scan->series[series]),
		SQL_ID(MIN(range->begin_ns, INT64_MAX)), SQL_ID(sqlite_list_end(*range)));
	while (!g->is_stopped && sqlite_next(s, row)) {
		if (!vec_push(&g->parts, ((struct sqlite_part){sqlite_list_u64(row, 0), (uint32_t)series})))
			sqlite_fail_nomem(s);
		else if (g->parts.len >= SQL_PARTS_AT_ONCE)
			sqlite_list_parts(g);
	}
	sqlite_end(row);
}

enum tally_status sqlite_list_sums(void *db, const struct store_scan *scan, struct tally_error *err)
{
	struct sqlite_store *s = db;
	struct sqlite_scanning g = {.store = s, .scan = scan};
	for (size_t i = 0; !s->failed && !g.is_stopped && i < scan->series_count; i++)
		sqlite_find_parts(&g, i);
	sqlite_list_parts(&g);
	vec_free(&g.parts);
	vec_free(&g.found);
	map_u64_deinit(&g.threads);
	return sqlite_status(s, err);
}

/* Start of the first window that the scan includes. */
static uint64_t sqlite_list_begin(struct sqlite_store *s, const struct store_window_scan *scan)
{
	uint64_t begin = MIN(scan->range.begin_ns, INT64_MAX), first = begin;
	if (!scan->reaches_in)
		return begin;
	sqlite3_stmt *row = sqlite_start(
		s, SQL_FIRST_REACHING, SQL_ID(begin - MIN(begin, STORE_REACH_NS)), SQL_ID(begin), SQL_ID(begin));
	if (sqlite_next(s, row) && sqlite3_column_type(row, 0) != SQLITE_NULL)
		first = sqlite_list_u64(row, 0);
	sqlite_end(row);
	return MIN(first, begin);
}

static bool sqlite_list_windows_of(
	struct sqlite_store *s, const struct store_window_scan *scan, uint64_t begin_ns, size_t series)
{
	bool goes_on = true;
	sqlite3_stmt *row = sqlite_start(s, SQL_LIST_WINDOWS, SQL_ID(scan->series[series]), SQL_ID(begin_ns),
		SQL_ID(sqlite_list_end(scan->range)));
	while (goes_on && sqlite_next(s, row)) {
		const struct store_window window = {.series = (uint32_t)series,
			.begin_ns = sqlite_list_u64(row, 0),
			.end_ns = sqlite_list_u64(row, 1),
			.samples = sqlite_list_u64(row, 2),
			.running_ns = sqlite_list_u64(row, 3),
			.waiting_ns = sqlite_list_u64(row, 4)};
		goes_on = scan->take(scan->context, &window);
	}
	sqlite_end(row);
	return goes_on;
}

enum tally_status sqlite_list_windows(void *db, const struct store_window_scan *scan, struct tally_error *err)
{
	struct sqlite_store *s = db;
	bool goes_on = true;
	uint64_t begin_ns = sqlite_list_begin(s, scan);
	for (size_t i = 0; goes_on && !s->failed && i < scan->series_count; i++)
		goes_on = sqlite_list_windows_of(s, scan, begin_ns, i);
	sqlite3_stmt *row = sqlite_start(s, SQL_LIST_LOSSES, SQL_ID(begin_ns), SQL_ID(sqlite_list_end(scan->range)));
	while (goes_on && sqlite_next(s, row)) {
		const struct store_window window = {.series = STORE_NONE,
			.begin_ns = sqlite_list_u64(row, 0),
			.end_ns = sqlite_list_u64(row, 1),
			.labels = sqlite_list_u64(row, 2),
			.lost_samples = sqlite_list_u64(row, 3) + sqlite_list_u64(row, 4)};
		goes_on = scan->take(scan->context, &window);
	}
	sqlite_end(row);
	return sqlite_status(s, err);
}

/* Parses "[12,5,7]" as written by sqlite_insert.c; false if it is damaged. */
static bool sqlite_list_read(struct sqlite_store *s, struct tally_str text)
{
	size_t at = 1;
	s->list.len = 0;
	if (text.len < 2 || text.data[0] != '[' || text.data[text.len - 1] != ']')
		return false;
	while (at < text.len) {
		uint64_t number = 0;
		for (; text.data[at] >= '0' && text.data[at] <= '9'; at++)
			number = number * 10 + (uint64_t)(text.data[at] - '0');
		if (number == 0 || (text.data[at] != ',' && text.data[at] != ']'))
			return false;
		at++;
		if (!vec_push(&s->list, number)) {
			sqlite_fail_nomem(s);
			return true;
		}
	}
	return true;
}

enum tally_status sqlite_list_stacks(void *db, const struct store_stack_list *list, struct tally_error *err)
{
	struct sqlite_store *s = db;
	bool goes_on = true;
	for (size_t i = 0; goes_on && !s->failed && i < list->count; i++) {
		sqlite3_stmt *row = sqlite_start(s, SQL_GET_STACK, SQL_ID(list->ids[i]));
		bool is_good = sqlite_next(s, row) && sqlite_list_read(s, sqlite_text(row, 0));
		if (!is_good && !s->failed)
			sqlite_list_corrupt(s, "stack", list->ids[i]);
		goes_on = !s->failed && list->take(list->context, list->ids[i], s->list.items, s->list.len);
		sqlite_end(row);
	}
	return sqlite_status(s, err);
}

/* The texts of a row are copied, because the next row overwrites them. */
struct sqlite_frames {
	struct arena arena;
	VEC(struct store_frame) list;
};

static struct tally_str sqlite_list_copy(struct sqlite_frames *frames, struct tally_str text)
{
	return (struct tally_str){arena_string(&frames->arena, text.data, text.len), text.len};
}

static void sqlite_list_frames(struct sqlite_store *s, uint64_t location, struct sqlite_frames *frames)
{
	frames->list.len = 0;
	sqlite3_stmt *row = sqlite_start(s, SQL_LIST_FRAMES, SQL_ID(location));
	while (sqlite_next(s, row)) {
		const struct store_frame frame = {sqlite_list_copy(frames, sqlite_text(row, 0)),
			sqlite_list_copy(frames, sqlite_text(row, 1)), (uint32_t)sqlite3_column_int64(row, 2),
			sqlite_list_u64(row, 3), sqlite_list_u64(row, 4), sqlite3_column_int(row, 5) != 0};
		if (!frame.function.data || !frame.file.data || !vec_push(&frames->list, frame))
			sqlite_fail_nomem(s);
	}
	sqlite_end(row);
}

static bool sqlite_list_location(struct sqlite_store *s, const struct store_location_list *list, uint64_t id)
{
	struct sqlite_frames frames = {0};
	bool goes_on = false;
	arena_init(&frames.arena);
	sqlite_list_frames(s, id, &frames);
	sqlite3_stmt *row = sqlite_start(s, SQL_GET_LOCATION, SQL_ID(id));
	if (sqlite_next(s, row)) {
		const struct store_location location = {.address = sqlite_list_u64(row, 0),
			.level = (uint8_t)sqlite3_column_int(row, 1),
			.frame_count = frames.list.len};
		const struct store_binary binary = {.id = sqlite_list_u64(row, 2),
			.name = sqlite_text(row, 3),
			.path = sqlite_text(row, 4),
			.build_id = sqlite_text(row, 5),
			.is_kernel = sqlite3_column_int(row, 6) != 0};
		goes_on = list->take(list->context, id, &location, binary.id ? &binary : NULL, frames.list.items);
	} else if (!s->failed) {
		sqlite_list_corrupt(s, "location", id);
	}
	sqlite_end(row);
	vec_free(&frames.list);
	arena_deinit(&frames.arena);
	return goes_on;
}

enum tally_status sqlite_list_locations(void *db, const struct store_location_list *list, struct tally_error *err)
{
	struct sqlite_store *s = db;
	bool goes_on = true;
	for (size_t i = 0; goes_on && !s->failed && i < list->count; i++)
		goes_on = sqlite_list_location(s, list, list->ids[i]);
	return sqlite_status(s, err);
}

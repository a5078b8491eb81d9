/* SPDX-License-Identifier: Apache-2.0 */
#include "store/sqlite_retain.h"

#include "base/clock.h"
#include "store/sqlite_insert.h"

#define SQL_BATCHES_AT_ONCE 64 /* Maximum number of batches that one transaction removes (some 100,000 samples). */
#define SQL_RETAIN_NS	    UINT64_C(1000000000) /* Time after which other users of the store have their turn. */
#define SQL_ROWS_AT_ONCE    50000 /* Number of rows that one step inspects. */

struct sqlite_removal {
	uint64_t ids[SQL_BATCHES_AT_ONCE], samples;
	size_t count;
};

static void sqlite_end_writing(struct sqlite_store *s)
{
	sqlite_run_plain(s, SQL_COMMIT);
	if (s->failed)
		(void)sqlite3_exec(s->db, "ROLLBACK", NULL, NULL, NULL);
}

/* Removes at most `most` batches; returns their number. */
static uint64_t sqlite_remove_batches(struct sqlite_store *s, uint64_t before_ns, size_t most)
{
	struct sqlite_removal removal = {0};
	sqlite_run_plain(s, SQL_BEGIN_WRITING);
	sqlite3_stmt *row = sqlite_start(
		s, SQL_OLDEST_BATCHES, SQL_ID(MIN(before_ns, INT64_MAX)), SQL_ID(MIN(most, SQL_BATCHES_AT_ONCE)));
	while (removal.count < SQL_BATCHES_AT_ONCE && sqlite_next(s, row)) {
		removal.ids[removal.count++] = (uint64_t)sqlite3_column_int64(row, 0);
		removal.samples += (uint64_t)sqlite3_column_int64(row, 1);
	}
	sqlite_end(row);
	for (size_t i = 0; i < removal.count; i++) {
		sqlite_run(s, SQL_REMOVE_SAMPLES, SQL_ID(removal.ids[i]));
		sqlite_run(s, SQL_REMOVE_PARTS, SQL_ID(removal.ids[i]));
		sqlite_run(s, SQL_REMOVE_BATCH, SQL_ID(removal.ids[i]));
	}
	sqlite_run(s, SQL_COUNT_REMOVED, SQL_ID(removal.count), SQL_ID(removal.samples), SQL_ID(0), SQL_ID(0));
	sqlite_end_writing(s);
	return s->failed ? 0 : removal.count;
}

/* Works in steps over the numbers of the rows; returns the number of rows removed. `first` removes the rows of another
 * table that belong to them; it equals `sweep` if there are none. */
static uint64_t sqlite_sweep_numbered(
	struct sqlite_store *s, enum sqlite_statement last, enum sqlite_statement first, enum sqlite_statement sweep)
{
	uint64_t removed = 0, end = (uint64_t)sqlite_number(s, last);
	for (uint64_t begin = 1; !s->failed && begin <= end; begin += SQL_ROWS_AT_ONCE) {
		uint64_t step_end = begin + SQL_ROWS_AT_ONCE - 1;
		sqlite_run_plain(s, SQL_BEGIN_WRITING);
		if (first != sweep)
			sqlite_run(s, first, SQL_ID(begin), SQL_ID(step_end));
		sqlite_run(s, sweep, SQL_ID(begin), SQL_ID(step_end));
		uint64_t gone = s->failed ? 0 : (uint64_t)sqlite3_changes(s->db);
		if (gone && sweep != SQL_SWEEP_THREADS)
			sqlite_run(s, SQL_COUNT_REMOVED, SQL_ID(0), SQL_ID(0),
				SQL_ID(sweep == SQL_SWEEP_STACKS ? gone : 0),
				SQL_ID(sweep == SQL_SWEEP_LOCATIONS ? gone : 0));
		sqlite_end_writing(s);
		removed += gone;
	}
	return removed;
}

static uint64_t sqlite_file_bytes(struct sqlite_store *s, bool with_free)
{
	uint64_t pages = (uint64_t)sqlite_number(s, SQL_PAGES);
	uint64_t unused = with_free ? 0 : (uint64_t)sqlite_number(s, SQL_FREE_PAGES);
	return (pages - MIN(unused, pages)) * (uint64_t)sqlite_number(s, SQL_PAGE_BYTES);
}

/* Half of the batches that the excess amounts to if all are alike, so that the last ones are removed one by one. */
static size_t sqlite_batches_over(struct sqlite_store *s, uint64_t bytes, uint64_t max_bytes)
{
	struct store_figures figures = {0};
	if (sqlite_figures(s, &figures, &s->error) != TALLY_OK) {
		s->failed = true;
		return 0;
	}
	double share = (double)(bytes - max_bytes) / (double)bytes;
	double batches = (double)figures.batches * share / 2;
	return batches < 1 ? 1 : batches > SQL_BATCHES_AT_ONCE ? SQL_BATCHES_AT_ONCE : (size_t)batches;
}

/* Removes the windows before oldest_ns; returns their number. */
static uint64_t sqlite_retain_age(struct sqlite_store *s, uint64_t oldest_ns, uint64_t until_ns)
{
	uint64_t removed = 0, gone = 1;
	while (gone > 0 && clock_ns() < until_ns) {
		gone = sqlite_remove_batches(s, oldest_ns, SQL_BATCHES_AT_ONCE);
		removed += gone;
	}
	return removed;
}

static uint64_t sqlite_retain_size(struct sqlite_store *s, uint64_t max_bytes, uint64_t until_ns)
{
	uint64_t removed = 0, gone = 1;
	while (!s->failed && gone > 0 && clock_ns() < until_ns) {
		uint64_t bytes = sqlite_file_bytes(s, false);
		if (bytes <= max_bytes)
			break;
		gone = sqlite_remove_batches(s, UINT64_MAX, sqlite_batches_over(s, bytes, max_bytes));
		removed += gone;
	}
	return removed;
}

/* A sweep removes unused rows. It reads the tables of stacks, locations and threads, and last_ns has a resolution of an
 * hour: sweeping more often removes nothing. */
static void sqlite_sweep_if_due(struct sqlite_store *s)
{
	uint64_t oldest = (uint64_t)sqlite_number(s, SQL_OLDEST_NS);
	if (s->failed || (oldest >= s->swept_ns && oldest - s->swept_ns < STORE_HOUR_NS))
		return;
	(void)sqlite_sweep_numbered(s, SQL_LAST_STACK, SQL_SWEEP_STACKS, SQL_SWEEP_STACKS);
	(void)sqlite_sweep_numbered(s, SQL_LAST_THREAD, SQL_SWEEP_THREADS, SQL_SWEEP_THREADS);
	uint64_t locations = sqlite_sweep_numbered(s, SQL_LAST_LOCATION, SQL_SWEEP_FRAMES, SQL_SWEEP_LOCATIONS);
	sqlite_run_plain(s, SQL_BEGIN_WRITING);
	sqlite_run_plain(s, SQL_SWEEP_SERIES);
	sqlite_run_plain(s, SQL_SWEEP_LABELS);
	sqlite_run_plain(s, SQL_SWEEP_BINARIES);
	sqlite_end_writing(s);
	/* Names are few and require one pass over all frames. */
	if (locations > 0)
		sqlite_run_plain(s, SQL_SWEEP_NAMES);
	sqlite_insert_forget(s);
	s->swept_ns = oldest;
}

/* Moves free pages to the end of the file and truncates it. */
static void sqlite_shrink(struct sqlite_store *s, uint64_t max_bytes, uint64_t until_ns)
{
	uint64_t pages = (uint64_t)sqlite_number(s, SQL_PAGES);
	uint64_t unused = (uint64_t)sqlite_number(s, SQL_FREE_PAGES);
	bool is_too_large = max_bytes > 0 && sqlite_file_bytes(s, true) > max_bytes;
	if (unused == 0 || (unused < pages / 10 && !is_too_large))
		return;
	uint64_t before;
	do {
		before = unused;
		sqlite_execute(s, "PRAGMA incremental_vacuum(4096)");
		unused = (uint64_t)sqlite_number(s, SQL_FREE_PAGES);
	} while (!s->failed && unused > 0 && unused < before && clock_ns() < until_ns);
	/* Readers may prevent this; a later call repeats it. */
	if (!s->failed)
		(void)sqlite3_wal_checkpoint_v2(s->db, NULL, SQLITE_CHECKPOINT_TRUNCATE, NULL, NULL);
}

enum tally_status sqlite_retain(
	void *db, uint64_t oldest_ns, uint64_t max_bytes, uint64_t *removed, struct tally_error *err)
{
	struct sqlite_store *s = db;
	uint64_t until_ns = clock_ns() + SQL_RETAIN_NS;
	uint64_t count = sqlite_retain_age(s, oldest_ns, until_ns);
	if (max_bytes > 0)
		count += sqlite_retain_size(s, max_bytes, until_ns);
	if (count > 0)
		sqlite_sweep_if_due(s);
	sqlite_shrink(s, max_bytes, until_ns);
	enum tally_status status = sqlite_status(s, err);
	if (status == TALLY_OK)
		*removed = count;
	return status;
}

enum tally_status sqlite_figures(void *db, struct store_figures *figures, struct tally_error *err)
{
	struct sqlite_store *s = db;
	struct store_figures f = {0};
	sqlite3_stmt *row = sqlite_start_with(s, SQL_GET_FIGURES, NULL, 0);
	if (sqlite_next(s, row)) {
		uint64_t *const to[] = {&f.batches, &f.samples, &f.stacks, &f.locations, &f.first_ns, &f.last_ns};
		for (size_t i = 0; i < ARRAY_LEN(to); i++)
			*to[i] = (uint64_t)sqlite3_column_int64(row, (int)i);
	}
	sqlite_end(row);
	f.bytes = sqlite_file_bytes(s, true);
	enum tally_status status = sqlite_status(s, err);
	if (status == TALLY_OK)
		*figures = f;
	return status;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "store/sqlite_statements.h"

/*
 * Samples are by far the most rows, so they contain small numbers in place of everything that repeats, and are stored
 * in the order in which queries read them: a part has the samples of one series in one batch. The views present them as
 * docs/fleet.md describes them for all databases. last_ns is the start of the latest window that used a row, or up to
 * an hour less, so that it is seldom written.
 */
static const char sqlite_first_schema[] =
	"CREATE TABLE store (schema_version INTEGER NOT NULL, store_id BLOB NOT NULL, batches INTEGER NOT NULL, "
	"samples INTEGER NOT NULL, stacks INTEGER NOT NULL, locations INTEGER NOT NULL);"
	"CREATE TABLE label_sets (set_id INTEGER NOT NULL, name TEXT NOT NULL, value TEXT NOT NULL, last_ns INTEGER "
	"NOT NULL, PRIMARY KEY (set_id, name)) WITHOUT ROWID;"
	"CREATE TABLE names (name_id INTEGER PRIMARY KEY, text TEXT NOT NULL);"
	"CREATE TABLE binaries (binary_id INTEGER PRIMARY KEY, name TEXT NOT NULL, path TEXT NOT NULL, build_id TEXT "
	"NOT NULL, is_kernel INTEGER NOT NULL, last_ns INTEGER NOT NULL);"
	"CREATE TABLE locations (location_id INTEGER PRIMARY KEY, content_id INTEGER NOT NULL UNIQUE, binary_id "
	"INTEGER NOT NULL, address INTEGER NOT NULL, level INTEGER NOT NULL, frames INTEGER NOT NULL, last_ns INTEGER "
	"NOT NULL);"
	"CREATE TABLE frame_rows (location_id INTEGER NOT NULL, number INTEGER NOT NULL, function_id INTEGER NOT NULL, "
	"file_id INTEGER NOT NULL, line INTEGER NOT NULL, start INTEGER NOT NULL, size INTEGER NOT NULL, is_start "
	"INTEGER NOT NULL, PRIMARY KEY (location_id, number)) WITHOUT ROWID;"
	"CREATE TABLE stacks (stack_id INTEGER PRIMARY KEY, content_id INTEGER NOT NULL UNIQUE, locations TEXT NOT "
	"NULL, last_ns INTEGER NOT NULL);"
	"CREATE TABLE threads (thread_id INTEGER PRIMARY KEY, content_id INTEGER NOT NULL UNIQUE, pid INTEGER NOT "
	"NULL, tid INTEGER NOT NULL, comm TEXT NOT NULL, process_comm TEXT NOT NULL, last_ns INTEGER NOT NULL);"
	"CREATE TABLE events (event_id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, is_time INTEGER NOT NULL, "
	"is_waiting INTEGER NOT NULL);"
	"CREATE TABLE states (state INTEGER PRIMARY KEY, name TEXT NOT NULL);"
	"INSERT INTO states VALUES (-1, ''), (0, 'running'), (1, 'runnable'), (2, 'sleep'), (3, 'uninterruptible'), "
	"(4, 'stopped'), (5, 'disk'), (6, 'lock'), (7, 'poll'), (8, 'io'), (9, 'other'), (10, 'off-cpu'), (11, "
	"'throttled');"
	"CREATE TABLE batches (insert_id INTEGER PRIMARY KEY, batch_id BLOB NOT NULL UNIQUE, begin_ns INTEGER NOT "
	"NULL, end_ns INTEGER NOT NULL, samples INTEGER NOT NULL, lost_samples INTEGER NOT NULL, dropped_batches "
	"INTEGER NOT NULL, dropped_samples INTEGER NOT NULL, own_cpu_ns INTEGER NOT NULL, own_bytes INTEGER NOT NULL, "
	"frequency_hz INTEGER NOT NULL, labels_id INTEGER NOT NULL);"
	"CREATE INDEX batches_by_begin ON batches (begin_ns);"
	"CREATE INDEX batches_with_losses ON batches (begin_ns) WHERE lost_samples > 0 OR dropped_samples > 0;"
	"CREATE TABLE series (series_id INTEGER PRIMARY KEY, labels_id INTEGER NOT NULL, thread_labels_id INTEGER NOT "
	"NULL, event_id INTEGER NOT NULL, last_ns INTEGER NOT NULL, UNIQUE (labels_id, thread_labels_id, event_id));"
	"CREATE TABLE parts (series_id INTEGER NOT NULL, begin_ns INTEGER NOT NULL, part INTEGER NOT NULL, insert_id "
	"INTEGER NOT NULL, samples INTEGER NOT NULL, running_ns INTEGER NOT NULL, waiting_ns INTEGER NOT NULL, PRIMARY "
	"KEY (series_id, begin_ns, part)) WITHOUT ROWID;"
	"CREATE INDEX parts_by_batch ON parts (insert_id);"
	"CREATE TABLE sample_rows (part INTEGER NOT NULL, stack_id INTEGER NOT NULL, thread_id INTEGER NOT NULL, state "
	"INTEGER NOT NULL, count INTEGER NOT NULL, value INTEGER NOT NULL, PRIMARY KEY (part, stack_id, thread_id, "
	"state)) WITHOUT ROWID;"
	/* CROSS JOIN enforces this order, so that a condition on begin_ns limits the rows read. */
	"CREATE VIEW samples AS SELECT b.insert_id, b.begin_ns, b.labels_id, series.thread_labels_id, t.pid, t.tid, "
	"t.comm, t.process_comm, e.name AS event, states.name AS state, r.stack_id, r.count, r.value FROM batches b "
	"CROSS JOIN parts p ON p.insert_id = b.insert_id CROSS JOIN series ON series.series_id = p.series_id CROSS "
	"JOIN "
	"events e ON e.event_id = series.event_id CROSS JOIN sample_rows r ON r.part = p.part CROSS JOIN threads t ON "
	"t.thread_id = r.thread_id CROSS JOIN states ON states.state = r.state;"
	"CREATE VIEW frames AS SELECT f.location_id, f.number, coalesce(n.text, '') AS function, coalesce(file.text, "
	"'') AS file, f.line, f.start, f.size, f.is_start FROM frame_rows f LEFT JOIN names n ON n.name_id = "
	"f.function_id LEFT JOIN names file ON file.name_id = f.file_id;"
	"INSERT INTO store VALUES (1, randomblob(16), 0, 0, 0, 0);"
	"PRAGMA application_id = 1953262713;"; /* "tlly" in ASCII. */

const char *const sqlite_migrations[] = {sqlite_first_schema};

/* No remaining window uses a row with an older last_ns; without windows, no row is in use. */
#define SQL_IS_UNUSED "last_ns < (SELECT coalesce(min(begin_ns), 9223372036854775807) - 3600000000000 FROM batches)"

static const char *const sqlite_texts[SQL_STATEMENTS] = {
	[SQL_BEGIN_READING] = "BEGIN",
	[SQL_BEGIN_WRITING] = "BEGIN IMMEDIATE",
	[SQL_COMMIT] = "COMMIT",
	[SQL_ROLLBACK] = "ROLLBACK",
	[SQL_DATA_VERSION] = "PRAGMA data_version",
	[SQL_APPLICATION] = "PRAGMA application_id",
	[SQL_COUNT_TABLES] = "SELECT count(*) FROM sqlite_master",
	[SQL_GET_STORE] = "SELECT schema_version, store_id FROM store",
	[SQL_FIND_BATCH] = "SELECT 1 FROM batches WHERE batch_id = ?",
	[SQL_ADD_BATCH] = "INSERT INTO batches (batch_id, begin_ns, end_ns, samples, lost_samples, "
			  "dropped_batches, dropped_samples, own_cpu_ns, own_bytes, frequency_hz, labels_id) "
			  "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
	[SQL_COUNT_ADDED] = "UPDATE store SET batches = batches + 1, samples = samples + ?, stacks = stacks + ?, "
			    "locations = locations + ?",
	[SQL_ADD_LABEL] = "INSERT INTO label_sets VALUES (?, ?, ?, ?) ON CONFLICT (set_id, name) DO UPDATE SET "
			  "last_ns = max(last_ns, excluded.last_ns)",
	[SQL_ADD_EVENT] = "INSERT OR IGNORE INTO events (name, is_time, is_waiting) VALUES (?, ?, ?)",
	[SQL_FIND_EVENT] = "SELECT event_id FROM events WHERE name = ?",
	[SQL_FIND_SERIES] = "SELECT series_id, last_ns FROM series WHERE labels_id = ? AND thread_labels_id = ? AND "
			    "event_id = ?",
	[SQL_ADD_SERIES] = "INSERT INTO series (labels_id, thread_labels_id, event_id, last_ns) VALUES (?, ?, ?, ?)",
	[SQL_TOUCH_SERIES] = "UPDATE series SET last_ns = max(last_ns, ?2) WHERE series_id = ?1",
	[SQL_LAST_PART] = "SELECT max(part) FROM sample_rows",
	[SQL_ADD_PART] = "INSERT INTO parts (series_id, begin_ns, part, insert_id, samples, running_ns, waiting_ns) "
			 "VALUES (?, ?, ?, ?, ?, ?, ?)",
	[SQL_ADD_SAMPLE] = "INSERT INTO sample_rows VALUES (?, ?, ?, ?, ?, ?)",
	[SQL_FIND_THREAD] = "SELECT thread_id, last_ns FROM threads WHERE content_id = ?",
	[SQL_ADD_THREAD] = "INSERT INTO threads (content_id, pid, tid, comm, process_comm, last_ns) VALUES (?, ?, "
			   "?, ?, ?, ?)",
	[SQL_TOUCH_THREAD] = "UPDATE threads SET last_ns = max(last_ns, ?2) WHERE thread_id = ?1",
	[SQL_FIND_STACK] = "SELECT stack_id, last_ns FROM stacks WHERE content_id = ?",
	[SQL_ADD_STACK] = "INSERT INTO stacks (content_id, locations, last_ns) VALUES (?, ?, ?)",
	[SQL_TOUCH_STACK] = "UPDATE stacks SET last_ns = max(last_ns, ?2) WHERE stack_id = ?1",
	[SQL_FIND_LOCATION] = "SELECT location_id, last_ns, frames FROM locations WHERE content_id = ?",
	[SQL_ADD_LOCATION] = "INSERT INTO locations (content_id, binary_id, address, level, frames, last_ns) VALUES "
			     "(?, ?, ?, ?, ?, ?)",
	[SQL_TOUCH_LOCATION] = "UPDATE locations SET last_ns = max(last_ns, ?2), frames = max(frames, ?3) WHERE "
			       "location_id = ?1",
	[SQL_ADD_BINARY] = "INSERT INTO binaries VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (binary_id) DO UPDATE SET "
			   "last_ns = max(last_ns, excluded.last_ns)",
	[SQL_ADD_NAME] = "INSERT OR IGNORE INTO names VALUES (?, ?)",
	[SQL_ADD_FRAME] = "INSERT INTO frame_rows VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
	[SQL_LIST_LABELS] = "SELECT set_id, name, value FROM label_sets WHERE last_ns >= ? ORDER BY set_id, name",
	[SQL_LIST_SERIES] = "SELECT series_id, labels_id, thread_labels_id, name FROM series JOIN events USING "
			    "(event_id) WHERE last_ns >= ? ORDER BY series_id",
	[SQL_LIST_PARTS] = "SELECT part FROM parts WHERE series_id = ? AND begin_ns >= ? AND begin_ns < ?",
	[SQL_LIST_SAMPLES] = "SELECT stack_id, thread_id, state, count, value FROM sample_rows WHERE part = ?",
	[SQL_GET_THREAD] = "SELECT pid, tid, comm, process_comm FROM threads WHERE thread_id = ?",
	[SQL_LIST_WINDOWS] = "SELECT p.begin_ns, b.end_ns, p.samples, running_ns, waiting_ns FROM parts p CROSS JOIN "
			     "batches b USING (insert_id) WHERE series_id = ? AND p.begin_ns >= ? AND p.begin_ns < ?",
	[SQL_LIST_LOSSES] = "SELECT begin_ns, end_ns, labels_id, lost_samples, dropped_samples FROM batches "
			    "WHERE begin_ns >= ? AND begin_ns < ? AND (lost_samples > 0 OR dropped_samples > 0)",
	[SQL_FIRST_REACHING] = "SELECT min(begin_ns) FROM batches WHERE begin_ns >= ? AND begin_ns < ? AND end_ns > ?",
	[SQL_HAS_WINDOWS] = "SELECT 1 FROM parts WHERE series_id = ? AND begin_ns >= ? AND begin_ns < ? LIMIT 1",
	[SQL_GET_STACK] = "SELECT locations FROM stacks WHERE stack_id = ?",
	[SQL_GET_LOCATION] = "SELECT address, level, l.binary_id, name, path, build_id, is_kernel FROM locations l "
			     "LEFT JOIN binaries USING (binary_id) WHERE location_id = ?",
	[SQL_LIST_FRAMES] = "SELECT function, file, line, start, size, is_start FROM frames WHERE location_id = ? "
			    "ORDER BY number",
	[SQL_GET_FIGURES] = "SELECT batches, samples, stacks, locations, (SELECT min(begin_ns) FROM batches), "
			    "(SELECT max(begin_ns) FROM batches) FROM store",
	[SQL_OLDEST_NS] = "SELECT coalesce(min(begin_ns), 9223372036854775807) FROM batches",
	[SQL_OLDEST_BATCHES] = "SELECT insert_id, samples FROM batches WHERE begin_ns < ? ORDER BY begin_ns LIMIT ?",
	[SQL_REMOVE_SAMPLES] = "DELETE FROM sample_rows WHERE part IN (SELECT part FROM parts WHERE insert_id = ?)",
	[SQL_REMOVE_PARTS] = "DELETE FROM parts WHERE insert_id = ?",
	[SQL_REMOVE_BATCH] = "DELETE FROM batches WHERE insert_id = ?",
	[SQL_COUNT_REMOVED] = "UPDATE store SET batches = batches - ?, samples = samples - ?, stacks = stacks - ?, "
			      "locations = locations - ?",
	[SQL_LAST_STACK] = "SELECT max(stack_id) FROM stacks",
	[SQL_LAST_THREAD] = "SELECT max(thread_id) FROM threads",
	[SQL_LAST_LOCATION] = "SELECT max(location_id) FROM locations",
	[SQL_SWEEP_STACKS] = "DELETE FROM stacks WHERE stack_id BETWEEN ? AND ? AND " SQL_IS_UNUSED,
	[SQL_SWEEP_THREADS] = "DELETE FROM threads WHERE thread_id BETWEEN ? AND ? AND " SQL_IS_UNUSED,
	[SQL_SWEEP_FRAMES] = "DELETE FROM frame_rows WHERE location_id IN (SELECT location_id FROM locations WHERE "
			     "location_id BETWEEN ? AND ? AND " SQL_IS_UNUSED ")",
	[SQL_SWEEP_LOCATIONS] = "DELETE FROM locations WHERE location_id BETWEEN ? AND ? AND " SQL_IS_UNUSED,
	[SQL_SWEEP_SERIES] = "DELETE FROM series WHERE " SQL_IS_UNUSED,
	[SQL_SWEEP_LABELS] = "DELETE FROM label_sets WHERE " SQL_IS_UNUSED,
	[SQL_SWEEP_BINARIES] = "DELETE FROM binaries WHERE " SQL_IS_UNUSED,
	[SQL_SWEEP_NAMES] = "DELETE FROM names WHERE name_id NOT IN (SELECT function_id FROM frame_rows UNION SELECT "
			    "file_id FROM frame_rows)",
	[SQL_PAGES] = "PRAGMA page_count",
	[SQL_FREE_PAGES] = "PRAGMA freelist_count",
	[SQL_PAGE_BYTES] = "PRAGMA page_size",
};

const char *sqlite_statement_text(enum sqlite_statement which)
{
	return sqlite_texts[which];
}

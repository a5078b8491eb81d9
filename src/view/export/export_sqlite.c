/* SPDX-License-Identifier: Apache-2.0 */
#include "view/export/export_sqlite.h"

#include <sqlite3.h>

#include "base/array.h"
#include "base/error.h"
#include "base/vec.h"

static const char schema[] =
	"PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; BEGIN;"
	"CREATE TABLE about (key TEXT PRIMARY KEY, value TEXT);"
	"CREATE TABLE events (id INTEGER PRIMARY KEY, name TEXT, unit TEXT, lost INTEGER);"
	"CREATE TABLE maps (id INTEGER PRIMARY KEY, name TEXT, path TEXT, build_id TEXT, is_kernel INTEGER);"
	"CREATE TABLE threads (id INTEGER PRIMARY KEY, pid INTEGER, tid INTEGER, comm TEXT);"
	"CREATE TABLE frames (id INTEGER PRIMARY KEY, symbol TEXT, kind TEXT, map INTEGER REFERENCES maps, "
	"address INTEGER, file TEXT, line INTEGER, function INTEGER);"
	"CREATE TABLE stacks (id INTEGER PRIMARY KEY, parent INTEGER REFERENCES stacks, frame INTEGER REFERENCES "
	"frames, depth INTEGER);"
	"CREATE TABLE samples (id INTEGER PRIMARY KEY, time INTEGER, event INTEGER REFERENCES events, thread INTEGER "
	"REFERENCES threads, cpu INTEGER, period INTEGER, stack INTEGER REFERENCES stacks, trace TEXT);"
	"CREATE TABLE marks (time INTEGER, kind TEXT, pid INTEGER, tid INTEGER, cpu INTEGER, number INTEGER, text "
	"TEXT);"
	"CREATE VIEW hits AS SELECT samples.id, time, events.name AS event, comm, pid, tid, cpu, period, symbol, kind, "
	"maps.name AS dso, maps.path AS path, address, file, line, trace, stack, function FROM samples JOIN events ON "
	"events.id "
	"= "
	"samples.event JOIN threads ON threads.id = samples.thread JOIN stacks ON stacks.id = samples.stack JOIN "
	"frames "
	"ON frames.id = stacks.frame LEFT JOIN maps ON maps.id = frames.map;"
	/* Only for stacks that samples have: most nodes are callers in the stacks of others. */
	"CREATE VIEW callers AS WITH RECURSIVE up (stack, parent, distance, frame) AS (SELECT id, parent, 0, frame "
	"FROM stacks WHERE id IN (SELECT stack FROM samples) UNION ALL SELECT up.stack, stacks.parent, distance + 1, "
	"stacks.frame FROM up JOIN stacks ON stacks.id = up.parent) SELECT stack, distance, frame FROM up;";

struct filler {
	sqlite3 *db;
	sqlite3_stmt *insert;
	const struct export_view *view;
	struct export_tables tables;
	struct text room, label_room;
	bool failed; /* sqlite3_errmsg returns the reason. */
};

static void export_sqlite_run(struct filler *f, const char *sql)
{
	if (!f->failed && sqlite3_exec(f->db, sql, NULL, NULL, NULL) != SQLITE_OK)
		f->failed = true;
}

static void export_sqlite_begin(struct filler *f, const char *sql)
{
	if (!f->failed && sqlite3_prepare_v2(f->db, sql, -1, &f->insert, NULL) != SQLITE_OK)
		f->failed = true;
}

static void export_sqlite_insert(struct filler *f)
{
	if (f->failed)
		return;
	if (sqlite3_step(f->insert) != SQLITE_DONE)
		f->failed = true;
	/* The result is ignored, because it is the error of sqlite3_step again. */
	(void)sqlite3_reset(f->insert);
	(void)sqlite3_clear_bindings(f->insert);
}

static void export_sqlite_end(struct filler *f)
{
	(void)sqlite3_finalize(f->insert);
	f->insert = NULL;
}

static void bind_number(struct filler *f, int column, int64_t number)
{
	if (!f->failed && sqlite3_bind_int64(f->insert, column, number) != SQLITE_OK)
		f->failed = true;
}

static void bind_text(struct filler *f, int column, struct tally_str s)
{
	text_clear(&f->room);
	text_utf8(&f->room, s);
	const char *data = f->room.data ? f->room.data : "";
	if (!f->failed &&
		sqlite3_bind_text64(f->insert, column, data, f->room.len, SQLITE_TRANSIENT, SQLITE_UTF8) != SQLITE_OK)
		f->failed = true;
}

static void export_sqlite_add_about(struct filler *f)
{
	const struct export_about *about = &f->view->about;
	const struct {
		const char *key;
		struct tally_str value;
	} texts[] = {{"schema", STR(EXPORT_SQLITE_VERSION)}, {"program", about->program}, {"version", about->version},
		{"recording", about->title}, {"hostname", about->hostname}, {"os", about->os}, {"arch", about->arch},
		{"cpu", about->cpu}, {"command", about->command},
		{"has_times", f->view->has_times ? STR("1") : STR("0")}, {"origin", about->origin.sentence}};
	export_sqlite_begin(f, "INSERT INTO about VALUES (?, ?)");
	for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
		if (i + 1 == ARRAY_LEN(texts) && texts[i].value.len == 0)
			continue;
		bind_text(f, 1, str_from(texts[i].key));
		bind_text(f, 2, texts[i].value);
		export_sqlite_insert(f);
	}
	if (about->has_wall_clock) {
		bind_text(f, 1, STR("wall_clock_offset_ns"));
		bind_number(f, 2, about->wall_clock_offset_ns);
		export_sqlite_insert(f);
	}
	export_sqlite_end(f);
}

static void export_sqlite_add_events(struct filler *f)
{
	const struct profile *p = f->view->profile;
	export_sqlite_begin(f, "INSERT INTO events VALUES (?, ?, ?, ?)");
	for (size_t i = 0; i < p->event_count; i++) {
		struct tally_str name = profile_string(p, p->events[i].name);
		bind_number(f, 1, (int64_t)i);
		bind_text(f, 2, name);
		bind_text(f, 3, str_from(export_event_unit(name)));
		bind_number(f, 4, (int64_t)p->events[i].lost_count);
		export_sqlite_insert(f);
	}
	export_sqlite_end(f);
}

static void export_sqlite_add_maps(struct filler *f)
{
	const struct profile *p = f->view->profile;
	export_sqlite_begin(f, "INSERT INTO maps VALUES (?, ?, ?, ?, ?)");
	for (size_t i = 0; i < p->binary_count; i++) {
		bind_number(f, 1, (int64_t)i);
		bind_text(f, 2, profile_string(p, p->binaries[i].name));
		bind_text(f, 3, profile_string(p, p->binaries[i].long_name));
		bind_text(f, 4, profile_string(p, p->binaries[i].build_id));
		bind_number(f, 5, p->binaries[i].is_kernel);
		export_sqlite_insert(f);
	}
	export_sqlite_end(f);
}

static void export_sqlite_add_threads(struct filler *f)
{
	const struct profile *p = f->view->profile;
	export_sqlite_begin(f, "INSERT INTO threads VALUES (?, ?, ?, ?)");
	for (size_t i = 0; i < p->thread_count; i++) {
		bind_number(f, 1, (int64_t)i);
		bind_number(f, 2, p->threads[i].pid);
		bind_number(f, 3, p->threads[i].tid);
		bind_text(f, 4, profile_string(p, p->threads[i].comm));
		export_sqlite_insert(f);
	}
	export_sqlite_end(f);
}

static void export_sqlite_add_frames(struct filler *f)
{
	const struct profile *p = f->view->profile;
	export_sqlite_begin(f, "INSERT INTO frames VALUES (?, ?, ?, ?, ?, ?, ?, ?)");
	for (size_t i = 0; i < f->tables.frame_count; i++) {
		const struct profile_frame *frame = &p->frames[f->tables.frames[i]];
		struct flame_label label = flame_label_of(p, f->tables.frames[i], &f->label_room);
		struct export_line line = export_frame_line(p, frame);
		bind_number(f, 1, (int64_t)i);
		bind_text(f, 2, label.name);
		bind_text(f, 3, str_from(export_kind_name(label.kind)));
		if (frame->binary != PROFILE_NONE)
			bind_number(f, 4, frame->binary);
		bind_number(f, 5, (int64_t)frame->address);
		if (line.file.len > 0) {
			bind_text(f, 6, line.file);
			bind_number(f, 7, (int64_t)line.number);
		}
		bind_number(f, 8, (int64_t)export_frame_function(p, frame));
		export_sqlite_insert(f);
	}
	export_sqlite_end(f);
}

static bool export_sqlite_add_stacks(struct filler *f)
{
	VEC(uint32_t) depths = {0};
	bool is_done = vec_reserve(&depths, f->tables.nodes.len + 1);
	export_sqlite_begin(f, "INSERT INTO stacks VALUES (?, ?, ?, ?)");
	for (size_t i = 0; is_done && i < f->tables.nodes.len && !f->failed; i++) {
		const struct stack_node *node = &f->tables.nodes.items[i];
		depths.items[i] = node->parent == PROFILE_NONE ? 0 : depths.items[node->parent] + 1;
		bind_number(f, 1, (int64_t)i);
		if (node->parent != PROFILE_NONE)
			bind_number(f, 2, node->parent);
		bind_number(f, 3, node->frame);
		bind_number(f, 4, depths.items[i]);
		export_sqlite_insert(f);
	}
	export_sqlite_end(f);
	vec_free(&depths);
	return is_done;
}

static void export_sqlite_add_samples(struct filler *f)
{
	const struct profile *p = f->view->profile;
	struct export_sample s;
	int64_t id = 0;
	export_sqlite_begin(f, "INSERT INTO samples VALUES (?, ?, ?, ?, ?, ?, ?, ?)");
	for (size_t at = 0; !f->failed && export_next_row(&f->tables, &at, &s);) {
		bind_number(f, 1, id++);
		bind_number(f, 2, (int64_t)s.time);
		bind_number(f, 3, s.event);
		bind_number(f, 4, s.thread);
		if (s.cpu >= 0)
			bind_number(f, 5, s.cpu);
		bind_number(f, 6, (int64_t)s.period);
		bind_number(f, 7, s.node);
		const struct profile_value *trace = profile_facet(p, p->samples[s.index].facets, FACET_TRACE);
		if (trace && trace->text != PROFILE_NONE && profile_string(p, trace->text).len > 0)
			bind_text(f, 8, profile_string(p, trace->text));
		export_sqlite_insert(f);
	}
	export_sqlite_end(f);
}

static void export_sqlite_add_marks(struct filler *f)
{
	const struct export_view *view = f->view;
	export_sqlite_begin(f, "INSERT INTO marks VALUES (?, ?, ?, ?, ?, ?, ?)");
	for (size_t i = 0; i < export_mark_count(view) && !f->failed; i++) {
		const struct export_mark *mark = export_mark_at(view, i);
		bind_number(f, 1, (int64_t)mark->time);
		bind_text(f, 2, str_from(export_mark_name(mark->kind)));
		if (mark->pid >= 0)
			bind_number(f, 3, mark->pid);
		if (mark->tid >= 0)
			bind_number(f, 4, mark->tid);
		if (mark->cpu >= 0)
			bind_number(f, 5, mark->cpu);
		if (mark->kind == EXPORT_FORK || mark->kind == EXPORT_LOST || mark->kind == EXPORT_SWITCH)
			bind_number(f, 6, mark->number);
		if (mark->text != INTERN_NONE)
			bind_text(f, 7, intern_get(view->mark_texts, mark->text));
		export_sqlite_insert(f);
	}
	export_sqlite_end(f);
}

enum tally_status export_sqlite_fill(sqlite3 *db, const struct export_view *view, struct tally_error *err)
{
	struct filler f = {.db = db, .view = view};
	enum tally_status status = export_tables_init(&f.tables, view, err);
	if (status != TALLY_OK)
		return status;
	export_sqlite_run(&f, schema);
	export_sqlite_add_about(&f);
	export_sqlite_add_events(&f);
	export_sqlite_add_maps(&f);
	export_sqlite_add_threads(&f);
	export_sqlite_add_frames(&f);
	bool has_memory = export_sqlite_add_stacks(&f);
	export_sqlite_add_samples(&f);
	export_sqlite_add_marks(&f);
	export_sqlite_run(&f, "COMMIT");
	if (!has_memory || f.room.failed || f.label_room.failed || (f.failed && sqlite3_errcode(db) == SQLITE_NOMEM))
		status = error_nomem(err);
	else if (f.failed)
		status = error_set(err, TALLY_IO, "the database: %s", sqlite3_errmsg(db));
	text_deinit(&f.room);
	text_deinit(&f.label_room);
	export_tables_deinit(&f.tables);
	return status;
}

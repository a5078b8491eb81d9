/* SPDX-License-Identifier: Apache-2.0 */
#include "store/sqlite_insert.h"

#include <stdlib.h>

#include "base/error.h"
#include "base/order.h"
#include "store/content_id.h"

#define SQL_KNOWN_MAX (1U << 20) /* Maximum number of cached rows of one kind (some 40 MB); then they are discarded. */

#define SQL_HOUR_BITS 22 /* 2^63 ns are 2,562,048 hours. */

/* Cached data about a row: its number, the hour of its last_ns, and for locations whether it has frames. */
struct sqlite_known {
	uint64_t number, hour;
	bool has_frames;
};

struct sqlite_inserting {
	struct sqlite_store *store;
	const struct store_rows *rows;
	uint64_t begin_ns, insert_id, next_part;
	uint64_t new_stacks, new_locations;
	/* Numbers of rows in the tables, by the index of the location, stack or thread in the batch. */
	uint64_t *locations, *stacks, *threads;
	struct store_sample *order; /* Samples of one part (one series in the batch), in the order of the table. */
};

static uint64_t sqlite_known_pack(struct sqlite_known known)
{
	return known.number << (SQL_HOUR_BITS + 1) | known.hour << 1 | known.has_frames;
}

static struct sqlite_known sqlite_known_unpack(uint64_t packed)
{
	return (struct sqlite_known){
		packed >> (SQL_HOUR_BITS + 1), packed >> 1 & ((UINT64_C(1) << SQL_HOUR_BITS) - 1), packed & 1};
}

static uint64_t sqlite_insert_hour(const struct sqlite_inserting *in)
{
	return in->begin_ns / STORE_HOUR_NS;
}

static void sqlite_remember(struct sqlite_store *s, struct map_u64 *map, uint64_t id, struct sqlite_known known)
{
	if (!map_u64_set(map, id, sqlite_known_pack(known)))
		sqlite_fail_nomem(s);
}

void sqlite_insert_forget(struct sqlite_store *s)
{
	struct map_u64 *const maps[] = {&s->stacks, &s->locations, &s->threads, &s->others};
	for (size_t i = 0; i < ARRAY_LEN(maps); i++) {
		map_u64_deinit(maps[i]);
		*maps[i] = (struct map_u64){0};
	}
}

/* False if the table lacks the row. */
static bool sqlite_find_known(struct sqlite_store *s, struct map_u64 *map, enum sqlite_statement find, uint64_t id,
	struct sqlite_known *known)
{
	uint64_t packed;
	if (map_u64_find(map, id, &packed)) {
		*known = sqlite_known_unpack(packed);
		return true;
	}
	sqlite3_stmt *row = sqlite_start(s, find, SQL_ID(id));
	bool is_there = sqlite_next(s, row);
	if (is_there) {
		*known = (struct sqlite_known){(uint64_t)sqlite3_column_int64(row, 0),
			(uint64_t)sqlite3_column_int64(row, 1) / STORE_HOUR_NS, false};
		known->has_frames = find == SQL_FIND_LOCATION && sqlite3_column_int64(row, 2) > 0;
		sqlite_remember(s, map, id, *known);
	}
	sqlite_end(row);
	return is_there;
}

static uint64_t sqlite_insert_last_id(const struct sqlite_store *s)
{
	return (uint64_t)sqlite3_last_insert_rowid(s->db);
}

/* False if the store lacks symbols that the sender left out. */
static bool sqlite_find_locations(struct sqlite_inserting *in)
{
	struct sqlite_store *s = in->store;
	struct sqlite_known known;
	for (size_t i = 0; !s->failed && i < in->rows->locations.len; i++) {
		const struct store_location *location = &in->rows->locations.items[i];
		if (sqlite_find_known(s, &s->locations, SQL_FIND_LOCATION, location->id, &known))
			in->locations[i] = known.number;
		else if (!s->failed && location->is_left_out)
			return false;
	}
	return true;
}

static uint64_t sqlite_add_name(struct sqlite_store *s, struct tally_str name)
{
	struct content_id c = content_id_begin(CONTENT_NAME);
	content_id_text(&c, name);
	uint64_t id = name.len ? content_id_end(&c) : 0;
	if (id)
		sqlite_run(s, SQL_ADD_NAME, SQL_ID(id), SQL_TEXT_OF(name));
	return id;
}

static void sqlite_add_frames(struct sqlite_inserting *in, const struct store_location *location, uint64_t number)
{
	struct sqlite_store *s = in->store;
	for (size_t i = 0; i < location->frame_count; i++) {
		const struct store_frame *frame = &in->rows->frames.items[location->first_frame + i];
		uint64_t function = sqlite_add_name(s, frame->function), file = sqlite_add_name(s, frame->file);
		sqlite_run(s, SQL_ADD_FRAME, SQL_ID(number), SQL_ID(i), SQL_ID(function), SQL_ID(file),
			SQL_ID(frame->line), SQL_ID(frame->start), SQL_ID(frame->size), SQL_ID(frame->is_start));
	}
}

static void sqlite_add_binaries(struct sqlite_inserting *in)
{
	struct sqlite_store *s = in->store;
	for (size_t i = 0; i < in->rows->binaries.len; i++) {
		const struct store_binary *b = &in->rows->binaries.items[i];
		uint64_t hour;
		if (map_u64_find(&s->others, b->id, &hour) && hour >= sqlite_insert_hour(in))
			continue;
		sqlite_run(s, SQL_ADD_BINARY, SQL_ID(b->id), SQL_TEXT_OF(b->name), SQL_TEXT_OF(b->path),
			SQL_TEXT_OF(b->build_id), SQL_ID(b->is_kernel), SQL_ID(in->begin_ns));
		if (!map_u64_set(&s->others, b->id, sqlite_insert_hour(in)))
			sqlite_fail_nomem(s);
	}
}

/* Symbols that arrive later than their location are added; existing ones are retained. */
static void sqlite_touch_location(struct sqlite_inserting *in, size_t index)
{
	struct sqlite_store *s = in->store;
	const struct store_location *location = &in->rows->locations.items[index];
	struct sqlite_known known;
	bool gets_frames, gets_older = false;
	if (!sqlite_find_known(s, &s->locations, SQL_FIND_LOCATION, location->id, &known))
		return;
	gets_frames = !known.has_frames && location->frame_count > 0;
	gets_older = known.hour < sqlite_insert_hour(in);
	if (!gets_frames && !gets_older)
		return;
	if (gets_frames)
		sqlite_add_frames(in, location, known.number);
	sqlite_run(s, SQL_TOUCH_LOCATION, SQL_ID(known.number), SQL_ID(in->begin_ns), SQL_ID(location->frame_count));
	known.has_frames = known.has_frames || gets_frames;
	known.hour = MAX(known.hour, sqlite_insert_hour(in));
	sqlite_remember(s, &s->locations, location->id, known);
}

static void sqlite_add_location(struct sqlite_inserting *in, size_t index)
{
	struct sqlite_store *s = in->store;
	const struct store_location *location = &in->rows->locations.items[index];
	uint64_t binary = location->binary == STORE_NONE ? 0 : in->rows->binaries.items[location->binary].id;
	sqlite_run(s, SQL_ADD_LOCATION, SQL_ID(location->id), SQL_ID(binary), SQL_ID(location->address),
		SQL_ID(location->level), SQL_ID(location->frame_count), SQL_ID(in->begin_ns));
	in->locations[index] = sqlite_insert_last_id(s);
	in->new_locations++;
	sqlite_add_frames(in, location, in->locations[index]);
	sqlite_remember(s, &s->locations, location->id,
		(struct sqlite_known){in->locations[index], sqlite_insert_hour(in), location->frame_count > 0});
}

static void sqlite_add_locations(struct sqlite_inserting *in)
{
	for (size_t i = 0; !in->store->failed && i < in->rows->locations.len; i++) {
		if (in->locations[i])
			sqlite_touch_location(in, i);
		else
			sqlite_add_location(in, i);
	}
}

/* Notes that this window uses a row. True if its last_ns must be written. */
static bool sqlite_is_used_later(
	struct sqlite_inserting *in, struct map_u64 *map, uint64_t id, struct sqlite_known *known)
{
	if (known->hour >= sqlite_insert_hour(in))
		return false;
	known->hour = sqlite_insert_hour(in);
	sqlite_remember(in->store, map, id, *known);
	return true;
}

/* Returns the numbers of the stack's locations as a JSON list, which SQL functions can read. */
static struct tally_str sqlite_stack_text(struct sqlite_inserting *in, const struct store_stack *stack)
{
	struct text *text = &in->store->text;
	text_clear(text);
	text_char(text, '[');
	for (size_t i = 0; i < stack->count; i++) {
		if (i > 0)
			text_char(text, ',');
		text_u64(text, in->locations[in->rows->stack_locations.items[stack->first + i]]);
	}
	text_char(text, ']');
	if (text->failed)
		sqlite_fail_nomem(in->store);
	return text_view(text);
}

static void sqlite_add_stacks(struct sqlite_inserting *in)
{
	struct sqlite_store *s = in->store;
	for (size_t i = 0; !s->failed && i < in->rows->stacks.len; i++) {
		const struct store_stack *stack = &in->rows->stacks.items[i];
		struct sqlite_known known;
		if (sqlite_find_known(s, &s->stacks, SQL_FIND_STACK, stack->id, &known)) {
			in->stacks[i] = known.number;
			if (sqlite_is_used_later(in, &s->stacks, stack->id, &known))
				sqlite_run(s, SQL_TOUCH_STACK, SQL_ID(known.number), SQL_ID(in->begin_ns));
			continue;
		}
		sqlite_run(s, SQL_ADD_STACK, SQL_ID(stack->id), SQL_TEXT_OF(sqlite_stack_text(in, stack)),
			SQL_ID(in->begin_ns));
		in->stacks[i] = sqlite_insert_last_id(s);
		in->new_stacks++;
		sqlite_remember(
			s, &s->stacks, stack->id, (struct sqlite_known){in->stacks[i], sqlite_insert_hour(in), false});
	}
}

static void sqlite_add_threads(struct sqlite_inserting *in)
{
	struct sqlite_store *s = in->store;
	for (size_t i = 0; !s->failed && i < in->rows->threads.len; i++) {
		const struct store_thread *t = &in->rows->threads.items[i];
		struct sqlite_known known;
		if (sqlite_find_known(s, &s->threads, SQL_FIND_THREAD, t->id, &known)) {
			in->threads[i] = known.number;
			if (sqlite_is_used_later(in, &s->threads, t->id, &known))
				sqlite_run(s, SQL_TOUCH_THREAD, SQL_ID(known.number), SQL_ID(in->begin_ns));
			continue;
		}
		sqlite_run(s, SQL_ADD_THREAD, SQL_ID(t->id), SQL_ID(t->pid), SQL_ID(t->tid), SQL_TEXT_OF(t->comm),
			SQL_TEXT_OF(t->process_comm), SQL_ID(in->begin_ns));
		in->threads[i] = sqlite_insert_last_id(s);
		sqlite_remember(
			s, &s->threads, t->id, (struct sqlite_known){in->threads[i], sqlite_insert_hour(in), false});
	}
}

static void sqlite_add_sets(struct sqlite_inserting *in)
{
	struct sqlite_store *s = in->store;
	for (size_t i = 0; !s->failed && i < in->rows->sets.len; i++) {
		const struct store_set *set = &in->rows->sets.items[i];
		uint64_t hour;
		if (map_u64_find(&s->others, set->id, &hour) && hour >= sqlite_insert_hour(in))
			continue;
		for (size_t k = 0; k < set->labels.count; k++)
			sqlite_run(s, SQL_ADD_LABEL, SQL_ID(set->id), SQL_TEXT_OF(set->labels.items[k].name),
				SQL_TEXT_OF(set->labels.items[k].value), SQL_ID(in->begin_ns));
		if (!map_u64_set(&s->others, set->id, sqlite_insert_hour(in)))
			sqlite_fail_nomem(s);
	}
}

static uint64_t sqlite_find_event(struct sqlite_store *s, const struct store_event *event)
{
	for (int attempt = 0; attempt < 2; attempt++) {
		sqlite3_stmt *row = sqlite_start(s, SQL_FIND_EVENT, SQL_TEXT_OF(event->name));
		uint64_t id = sqlite_next(s, row) ? (uint64_t)sqlite3_column_int64(row, 0) : 0;
		sqlite_end(row);
		if (id)
			return id;
		sqlite_run(
			s, SQL_ADD_EVENT, SQL_TEXT_OF(event->name), SQL_ID(event->is_time), SQL_ID(event->is_waiting));
	}
	return 0;
}

static uint64_t sqlite_find_series(struct sqlite_inserting *in, const struct store_part *part)
{
	struct sqlite_store *s = in->store;
	uint64_t labels = in->rows->sets.items[0].id, thread_labels = in->rows->sets.items[part->set].id;
	uint64_t event = sqlite_find_event(s, &in->rows->events.items[part->event]), id = 0, last_ns = 0;
	sqlite3_stmt *row = sqlite_start(s, SQL_FIND_SERIES, SQL_ID(labels), SQL_ID(thread_labels), SQL_ID(event));
	if (sqlite_next(s, row)) {
		id = (uint64_t)sqlite3_column_int64(row, 0);
		last_ns = (uint64_t)sqlite3_column_int64(row, 1);
	}
	sqlite_end(row);
	if (id == 0) {
		sqlite_run(
			s, SQL_ADD_SERIES, SQL_ID(labels), SQL_ID(thread_labels), SQL_ID(event), SQL_ID(in->begin_ns));
		id = sqlite_insert_last_id(s);
	} else if (last_ns / STORE_HOUR_NS < sqlite_insert_hour(in)) {
		sqlite_run(s, SQL_TOUCH_SERIES, SQL_ID(id), SQL_ID(in->begin_ns));
	}
	return id;
}

static int sqlite_compare_samples(const void *left, const void *right)
{
	const struct store_sample *a = left, *b = right;
	if (a->stack != b->stack)
		return COMPARE(a->stack, b->stack);
	return a->thread != b->thread ? COMPARE(a->thread, b->thread) : COMPARE(a->state, b->state);
}

/* Inserts in the order of the table's key, so that its pages are filled one after the other. */
static void sqlite_add_part(struct sqlite_inserting *in, uint32_t part, size_t first, size_t count)
{
	struct sqlite_store *s = in->store;
	const struct store_part *p = &in->rows->parts.items[part];
	uint64_t number = in->next_part++;
	sqlite_run(s, SQL_ADD_PART, SQL_ID(sqlite_find_series(in, p)), SQL_ID(in->begin_ns), SQL_ID(number),
		SQL_ID(in->insert_id), SQL_ID(p->samples), SQL_ID(p->running_ns), SQL_ID(p->waiting_ns));
	for (size_t i = 0; i < count; i++) {
		in->order[i] = in->rows->samples.items[first + i];
		/* The numbers fit unless the store has had 2^32 stacks or threads. */
		in->order[i].stack = in->order[i].stack == STORE_NONE ? 0 : (uint32_t)in->stacks[in->order[i].stack];
		in->order[i].thread = (uint32_t)in->threads[in->order[i].thread];
	}
	if (count > 1)
		qsort(in->order, count, sizeof(*in->order), sqlite_compare_samples);
	for (size_t i = 0; !s->failed && i < count; i++) {
		const struct store_sample *sample = &in->order[i];
		sqlite_run(s, SQL_ADD_SAMPLE, SQL_ID(number), SQL_ID(sample->stack), SQL_ID(sample->thread),
			SQL_ID(sample->state), SQL_ID(sample->count), SQL_ID(sample->value));
	}
}

static void sqlite_add_batch(struct sqlite_inserting *in)
{
	const struct fleet_batch *b = in->rows->batch;
	sqlite_run(in->store, SQL_ADD_BATCH, SQL_BYTES_OF(b->id, sizeof(b->id)), SQL_ID(b->begin_ns), SQL_ID(b->end_ns),
		SQL_ID(in->rows->sample_count), SQL_ID(b->losses.lost_samples), SQL_ID(b->losses.dropped_batches),
		SQL_ID(b->losses.dropped_samples), SQL_ID(b->losses.own_cpu_ns), SQL_ID(b->losses.own_bytes),
		SQL_ID(b->losses.frequency_hz), SQL_ID(in->rows->sets.items[0].id));
	in->insert_id = sqlite_insert_last_id(in->store);
}

static void sqlite_add_all_samples(struct sqlite_inserting *in)
{
	const struct store_rows *rows = in->rows;
	in->next_part = (uint64_t)sqlite_number(in->store, SQL_LAST_PART) + 1;
	for (size_t first = 0, end; !in->store->failed && first < rows->samples.len; first = end) {
		uint32_t part = rows->samples.items[first].part;
		for (end = first; end < rows->samples.len && rows->samples.items[end].part == part;)
			end++;
		sqlite_add_part(in, part, first, end - first);
	}
}

static bool sqlite_is_stored(struct sqlite_store *s, const struct fleet_batch *batch)
{
	sqlite3_stmt *row = sqlite_start(s, SQL_FIND_BATCH, SQL_BYTES_OF(batch->id, sizeof(batch->id)));
	bool is_stored = sqlite_next(s, row);
	sqlite_end(row);
	return is_stored;
}

static void sqlite_insert_rows(struct sqlite_inserting *in, struct store_receipt *receipt)
{
	if (sqlite_is_stored(in->store, in->rows->batch)) {
		receipt->is_duplicate = true;
		return;
	}
	if (!sqlite_find_locations(in)) {
		receipt->lacks_symbols = true;
		return;
	}
	sqlite_add_binaries(in);
	sqlite_add_locations(in);
	sqlite_add_stacks(in);
	sqlite_add_threads(in);
	sqlite_add_sets(in);
	sqlite_add_batch(in);
	sqlite_add_all_samples(in);
	sqlite_run(in->store, SQL_COUNT_ADDED, SQL_ID(in->rows->sample_count), SQL_ID(in->new_stacks),
		SQL_ID(in->new_locations));
	receipt->samples = in->rows->sample_count;
}

static void sqlite_insert_one(struct sqlite_store *s, const struct store_rows *rows, struct store_receipt *receipt)
{
	struct sqlite_inserting in = {.store = s, .rows = rows, .begin_ns = rows->batch->begin_ns};
	in.locations = calloc(rows->locations.len + 1, sizeof(*in.locations));
	in.stacks = calloc(rows->stacks.len + 1, sizeof(*in.stacks));
	in.threads = calloc(rows->threads.len + 1, sizeof(*in.threads));
	in.order = malloc((rows->samples.len + 1) * sizeof(*in.order));
	if (in.locations && in.stacks && in.threads && in.order)
		sqlite_insert_rows(&in, receipt);
	else
		sqlite_fail_nomem(s);
	free(in.locations);
	free(in.stacks);
	free(in.threads);
	free(in.order);
}

enum tally_status sqlite_insert(
	void *db, const struct store_rows *rows, size_t count, struct store_receipt *receipts, struct tally_error *err)
{
	struct sqlite_store *s = db;
	sqlite_run_plain(s, SQL_BEGIN_WRITING);
	int64_t version = sqlite_number(s, SQL_DATA_VERSION);
	bool is_large = s->stacks.len > SQL_KNOWN_MAX || s->locations.len > SQL_KNOWN_MAX ||
			s->threads.len > SQL_KNOWN_MAX || s->others.len > SQL_KNOWN_MAX;
	if (version != s->data_version || is_large)
		sqlite_insert_forget(s);
	s->data_version = version;
	for (size_t i = 0; !s->failed && i < count; i++)
		if (!receipts[i].refused)
			sqlite_insert_one(s, &rows[i], &receipts[i]);
	sqlite_run_plain(s, SQL_COMMIT);
	if (s->failed) {
		/* The rows that were rolled back must not remain in the cache. */
		(void)sqlite3_exec(s->db, "ROLLBACK", NULL, NULL, NULL);
		sqlite_insert_forget(s);
	}
	return sqlite_status(s, err);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "perfdata/time_order.h"

#include <stdlib.h>

#include "base/error.h"
#include "base/file.h"
#include "base/order.h"
#include "base/vec.h"
#include "perfdata/time_runs.h"

#define MAX_WAITING ((size_t)1 << 20) /* Maximum number of records that wait in memory; a round is seldom as long. */

struct time_order {
	struct perfdata_reader *reader;
	bool swap;
	VEC(struct time_waiting) queue; /* [next, flush_end) is sorted and may be returned; later records wait. */
	size_t next, flush_end;
	VEC(struct time_waiting) scratch;
	VEC(size_t) starts; /* Start of each ascending run of the queue. */
	struct time_runs spilled; /* Records beyond the queue's limit; they were read before all those in the queue. */
	uint64_t until_ns; /* Spilled records up to this time may be returned. */
	const uint8_t *left_begin, *left_end; /* Range of the records returned since the last drop. */
	size_t left_bytes; /* Total size of the records in that range. */
	uint64_t round_max_ns; /* Newest time in the current round. */
	/* Newest time of the previous round: all records up to it are known when the current round ends. */
	uint64_t flush_until_ns;
	uint64_t last_ns; /* Time of the record returned last. */
	uint64_t late;
	struct perfdata_mark round_start; /* Start of the round that is being read. */
	struct perfdata_mark done; /* All records before it are returned once those in [next, flush_end) are. */
	struct perfdata_mark forgotten; /* Value of `done` one round ago. */
	bool keeps_file_order;
	bool at_end;
	enum tally_status end_status;
	struct tally_error end_error;
};

enum tally_status time_order_create(struct perfdata_reader *reader, struct time_order **order, struct tally_error *err)
{
	struct time_order *o = calloc(1, sizeof(*o));
	if (!o)
		return error_nomem(err);
	o->reader = reader;
	o->swap = perfdata_reader_is_swapped(reader);
	time_runs_init(&o->spilled);
	*order = o;
	return TALLY_OK;
}

void time_order_keep_file_order(struct time_order *order)
{
	order->keeps_file_order = true;
}

void time_order_destroy(struct time_order *order)
{
	if (!order)
		return;
	vec_free(&order->queue);
	vec_free(&order->scratch);
	vec_free(&order->starts);
	time_runs_deinit(&order->spilled);
	free(order);
}

static void time_order_merge(struct time_waiting *to, const struct time_waiting *a, const struct time_waiting *a_end,
	const struct time_waiting *b, const struct time_waiting *b_end)
{
	while (a < a_end && b < b_end)
		*to++ = b->time_ns < a->time_ns ? *b++ : *a++;
	if (a < a_end)
		memcpy(to, a, (size_t)(a_end - a) * sizeof(*a));
	else
		memcpy(to, b, (size_t)(b_end - b) * sizeof(*b));
}

/* The records of each ring are in order, so the queue has few ascending runs, which are merged pairwise. The sort is
 * stable. */
static bool sort_queue(struct time_order *o)
{
	struct time_waiting *items = o->queue.items;
	size_t count = o->queue.len;
	o->starts.len = 0;
	for (size_t i = 0; i < count; i++)
		if ((i == 0 || items[i].time_ns < items[i - 1].time_ns) && !vec_push(&o->starts, i))
			return false;
	if (o->starts.len <= 1)
		return true;
	if (!vec_reserve(&o->scratch, count))
		return false;
	struct time_waiting *from = items;
	struct time_waiting *to = o->scratch.items;
	size_t *starts = o->starts.items;
	size_t run_count = o->starts.len;
	while (run_count > 1) {
		size_t kept = 0;
		for (size_t i = 0; i < run_count; i += 2) {
			size_t start = starts[i];
			size_t middle = i + 1 < run_count ? starts[i + 1] : count;
			size_t stop = i + 2 < run_count ? starts[i + 2] : count;
			time_order_merge(to + start, from + start, from + middle, from + middle, from + stop);
			starts[kept++] = start;
		}
		run_count = kept;
		struct time_waiting *swap = from;
		from = to;
		to = swap;
	}
	if (from != items)
		memcpy(items, from, count * sizeof(*items));
	return true;
}

/* Removes the records already returned and sorts the rest. */
static bool tidy_queue(struct time_order *o)
{
	if (o->next)
		memmove(o->queue.items, o->queue.items + o->next, (o->queue.len - o->next) * sizeof(*o->queue.items));
	o->queue.len -= o->next;
	o->next = o->flush_end = 0;
	return sort_queue(o);
}

static bool time_order_spill(struct time_order *o)
{
	if (!tidy_queue(o) || !time_runs_add(&o->spilled, o->queue.items, o->queue.len))
		return false;
	o->queue.len = 0;
	o->until_ns = 0;
	return true;
}

/* Returns the remaining spilled records of a long round to the queue. */
static bool take_back(struct time_order *o)
{
	size_t count = o->spilled.count, waiting = o->queue.len;
	if (!vec_reserve(&o->queue, count + waiting))
		return false;
	memmove(o->queue.items + count, o->queue.items, waiting * sizeof(*o->queue.items));
	for (size_t i = 0; i < count; i++)
		o->queue.items[i] = time_runs_take(&o->spilled);
	o->queue.len = count + waiting;
	return sort_queue(o);
}

static enum tally_status time_order_flush(struct time_order *o, uint64_t until_ns, struct tally_error *err)
{
	bool was_spilled = o->spilled.count > 0;
	bool has_room = o->spilled.count + o->queue.len - o->next <= MAX_WAITING / 2;
	if (!tidy_queue(o) || (was_spilled && has_room && !take_back(o)) ||
		(was_spilled && !has_room && o->queue.len > 0 && !time_order_spill(o)))
		return error_nomem(err);
	o->until_ns = until_ns;
	size_t low;
	LOWER_BOUND(low, o->queue.len, middle, o->queue.items[middle].time_ns <= until_ns);
	o->flush_end = low;
	return TALLY_OK;
}

uint64_t time_order_time_of(const struct perfdata_reader *reader, const struct record *record, bool swap)
{
	uint64_t time_ns;
	if (record->type != RECORD_SAMPLE)
		return perfdata_reader_time(reader, record, &time_ns) ? time_ns : 0;
	const struct perfdata_event *event = perfdata_reader_event_of(reader, record);
	if (!event || event->layout.time < 0 || record->bytes.len < (size_t)event->layout.time + sizeof(uint64_t))
		return 0;
	return sample_u64_at(record->bytes.data + event->layout.time, 0, swap);
}

/* Reads until there is something to return: a record without time in *item, or the front of the queue (has_time). */
static enum tally_status read_on(struct time_order *o, struct time_order_item *item, struct tally_error *err)
{
	perfdata_reader_forget(o->reader, o->forgotten);
	for (;;) {
		struct record record;
		enum tally_status status = perfdata_reader_next(o->reader, &record, &o->end_error);
		if (status != TALLY_OK) {
			o->at_end = true;
			o->end_status = status;
			item->has_time = true;
			return time_order_flush(o, UINT64_MAX, err);
		}
		uint64_t time_ns = o->keeps_file_order ? 0 : time_order_time_of(o->reader, &record, o->swap);
		/* Synthesized records at the start of a recording have the time 0 and do not wait. */
		if (time_ns != 0 && time_ns != UINT64_MAX) {
			struct time_waiting waiting = {
				.time_ns = time_ns, .data = record.bytes.data, .offset = record.offset};
			if ((o->queue.len - o->next >= MAX_WAITING && !time_order_spill(o)) ||
				!vec_push(&o->queue, waiting))
				return error_nomem(err);
			if (time_ns > o->round_max_ns)
				o->round_max_ns = time_ns;
			continue;
		}
		if (record.type == RECORD_FINISHED_ROUND) {
			status = time_order_flush(o, o->flush_until_ns, err);
			if (status != TALLY_OK)
				return status;
			o->flush_until_ns = o->round_max_ns;
			/* All waiting records belong to the round that ends here and none to an older one. */
			o->forgotten = o->done;
			o->done = o->round_start;
			o->round_start = perfdata_reader_mark(o->reader);
		}
		*item = (struct time_order_item){.record = record};
		return TALLY_OK;
	}
}

/* False if no further record may be returned yet. */
static bool take_oldest(struct time_order *o, struct time_waiting *oldest)
{
	const struct time_waiting *spilled = time_runs_first(&o->spilled);
	if (o->next < o->flush_end)
		*oldest = o->queue.items[o->next++];
	else if (spilled && spilled->time_ns <= o->until_ns)
		*oldest = time_runs_take(&o->spilled);
	else
		return false;
	return true;
}

/* Notes that a record is returned. The pages of returned records are dropped from memory, many at a time. */
static void time_order_leave(struct time_order *o, struct tally_bytes record)
{
	if (o->left_bytes == 0 || record.data < o->left_begin)
		o->left_begin = record.data;
	if (o->left_bytes == 0 || record.data + record.len > o->left_end)
		o->left_end = record.data + record.len;
	o->left_bytes += record.len;
	if (o->left_bytes < FILE_WINDOW_BYTES)
		return;
	perfdata_reader_drop(o->reader, (struct tally_bytes){o->left_begin, (size_t)(o->left_end - o->left_begin)});
	o->left_bytes = 0;
}

enum tally_status time_order_next(struct time_order *o, struct time_order_item *item, struct tally_error *err)
{
	struct time_waiting oldest;
	while (!take_oldest(o, &oldest)) {
		if (o->at_end) {
			if (o->end_status != TALLY_END && err)
				*err = o->end_error;
			enum tally_status status = o->end_status;
			o->end_status = TALLY_END;
			return status;
		}
		enum tally_status status = read_on(o, item, err);
		if (status != TALLY_OK)
			return status;
		if (!item->has_time)
			return TALLY_OK;
	}
	/* The size was checked when the record was read. */
	struct tally_bytes bytes = {oldest.data, UINT16_MAX};
	enum tally_status status = record_at(bytes, o->swap, 0, &item->record, err);
	if (status == TALLY_OK)
		time_order_leave(o, item->record.bytes);
	item->record.offset = oldest.offset;
	item->has_time = true;
	item->time_ns = oldest.time_ns;
	if (oldest.time_ns >= o->last_ns)
		o->last_ns = oldest.time_ns;
	else if (oldest.time_ns != 0) /* 0 is the time of records about tasks that already ran. */
		o->late++;
	return status;
}

uint64_t time_order_late(const struct time_order *order)
{
	return order->late;
}

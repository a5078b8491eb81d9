/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/wait_index.h"

#include <stdlib.h>

#include "base/error.h"
#include "base/text.h"

static void wait_index_name(struct text *name, const struct wait_record *wait)
{
	text_clear(name);
	if (wait->flags & WAIT_FLAG_INTERRUPT) {
		text_str(name, "[woken by an interrupt]");
		return;
	}
	text_str(name, "[woken by ");
	text_bytes(name, wait->waker_comm.data, wait->waker_comm.len);
	text_char(name, ']');
	text_visible_from(name, 0);
}

static enum tally_status wait_index_add(struct wait_index *index, const struct sample *sample,
	const struct wait_record *wait, size_t position, struct text *name)
{
	uint32_t id;
	if (wait->flags & (WAIT_FLAG_WAKER | WAIT_FLAG_INTERRUPT)) {
		wait_index_name(name, wait);
		if (name->failed || !intern_add(&index->wakers, name->data, name->len, &id))
			return TALLY_NOMEM;
	}
	if ((wait->flags & WAIT_FLAG_SUM) || wait_state_is_ready(wait->state) || sample->period > sample->time)
		return TALLY_OK;
	const struct wait_interval added = {
		(int32_t)sample->tid, sample->time - sample->period, sample->time, position};
	return vec_push(&index->waits, added) ? TALLY_OK : TALLY_NOMEM;
}

static int wait_index_compare(const void *left, const void *right)
{
	const struct wait_interval *a = left, *b = right;
	if (a->tid != b->tid)
		return a->tid < b->tid ? -1 : 1;
	if (a->end_ns != b->end_ns)
		return a->end_ns < b->end_ns ? -1 : 1;
	return (a->position > b->position) - (a->position < b->position);
}

enum tally_status wait_index_read(
	struct wait_index *index, const struct wait_index_source *source, struct tally_error *err)
{
	const struct record_run *run = source->run;
	enum tally_status status = TALLY_OK;
	struct record record;
	struct text name = {0};
	*index = (struct wait_index){.event = source->event};
	intern_init(&index->wakers);
	/* A damaged record ends the loop; the sideband, which is read from the same records, reports it. */
	for (size_t position = 0, start = 0;
		status == TALLY_OK && record_run_next(run, &position, &record, NULL) == TALLY_OK; start = position) {
		const struct perfdata_event *event =
			record.type == RECORD_SAMPLE ? perfdata_reader_event_of(source->reader, &record) : NULL;
		struct sample sample;
		struct wait_record wait;
		if (event && event->index == source->event &&
			sample_decode(&event->layout, &record, &sample, NULL) == TALLY_OK &&
			wait_sample_decode(event, &sample, &wait))
			status = wait_index_add(index, &sample, &wait, start, &name);
	}
	text_deinit(&name);
	if (status != TALLY_OK) {
		wait_index_deinit(index);
		return error_nomem(err);
	}
	if (index->waits.len)
		qsort(index->waits.items, index->waits.len, sizeof(*index->waits.items), wait_index_compare);
	return TALLY_OK;
}

void wait_index_deinit(struct wait_index *index)
{
	vec_free(&index->waits);
	intern_deinit(&index->wakers);
}

uint32_t wait_index_waker(const struct wait_index *index, const struct wait_record *wait)
{
	struct text name = {0};
	uint32_t id = INTERN_NONE;
	if (wait->flags & (WAIT_FLAG_WAKER | WAIT_FLAG_INTERRUPT)) {
		wait_index_name(&name, wait);
		id = name.failed ? INTERN_NONE : intern_find(&index->wakers, name.data, name.len);
	}
	text_deinit(&name);
	return id;
}

const struct wait_interval *wait_index_last(const struct wait_index *index, int32_t tid, uint64_t end_ns)
{
	size_t low = 0, high = index->waits.len;
	while (low < high) { /* Finds the first wait after all candidates. */
		size_t middle = low + (high - low) / 2;
		const struct wait_interval *wait = &index->waits.items[middle];
		if (wait->tid < tid || (wait->tid == tid && wait->end_ns <= end_ns))
			low = middle + 1;
		else
			high = middle;
	}
	return low > 0 && index->waits.items[low - 1].tid == tid ? &index->waits.items[low - 1] : NULL;
}

const struct wait_interval *wait_index_before(const struct wait_index *index, const struct wait_interval *wait)
{
	return wait > index->waits.items && wait[-1].tid == wait->tid ? wait - 1 : NULL;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/sample_clock.h"

#include "abi/sample.h"
#include "base/order.h"

static bool has_time(const struct perfdata_event *event)
{
	return (event->attr.sample_type & SAMPLE_TIME) != 0;
}

void sample_clock_init(struct sample_clock *clock, const struct perfdata_reader *reader)
{
	size_t count, timed = 0, untimed = 0;
	const struct perfdata_event *events = perfdata_reader_events(reader, &count);
	*clock = (struct sample_clock){0};
	for (size_t i = 0; i < count; i++) {
		const struct perf_attr *attr = &events[i].attr;
		bool is_timed = has_time(&events[i]);
		bool has_history = ATTR_HAS(attr, MMAP) || ATTR_HAS(attr, COMM) || ATTR_HAS(attr, TASK);
		if (!events[i].layout.sample_id_all || (!is_timed && has_history))
			clock->is_position = true;
		timed += is_timed;
		untimed += !is_timed;
	}
	clock->is_position = clock->is_position || (untimed > 0 && timed == 0);
	clock->is_mixed = !clock->is_position && untimed > 0;
}

void sample_clock_deinit(struct sample_clock *clock)
{
	vec_free(&clock->marks);
}

static bool push_last(struct clock_marks *marks)
{
	if (marks->last.position == SIZE_MAX)
		return true;
	bool is_pushed = vec_push(&marks->items, marks->last);
	marks->last.position = SIZE_MAX;
	return is_pushed;
}

bool sample_clock_note(
	struct clock_marks *marks, const struct perfdata_reader *reader, const struct record *record, size_t position)
{
	uint64_t time_ns = 0;
	if (record->type == RECORD_SAMPLE) {
		const struct perfdata_event *event = perfdata_reader_event_of(reader, record);
		struct sample sample;
		if (!event || sample_decode(&event->layout, record, &sample, NULL) != TALLY_OK)
			return true;
		if (!has_time(event))
			return push_last(marks);
		time_ns = sample.time;
	} else if (!perfdata_reader_time(reader, record, &time_ns)) {
		return true;
	}
	/* Synthesized records at the start have the time 0, which is not the time of the records after them. */
	if (time_ns > 0)
		marks->last = (struct clock_mark){position, time_ns};
	return true;
}

bool sample_clock_take(struct sample_clock *clock, const struct clock_marks *marks)
{
	for (size_t i = 0; i < marks->items.len; i++)
		if (!vec_push(&clock->marks, marks->items.items[i]))
			return false;
	return marks->last.position == SIZE_MAX || vec_push(&clock->marks, marks->last);
}

uint64_t sample_clock_of_event(
	const struct sample_clock *clock, const struct perfdata_event *event, size_t position, uint64_t time_ns)
{
	if (has_time(event))
		return time_ns;
	size_t low;
	LOWER_BOUND(low, clock->marks.len, middle, clock->marks.items[middle].position < position);
	return low > 0 ? clock->marks.items[low - 1].time_ns : 0;
}

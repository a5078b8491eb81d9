/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/sample_switches.h"

#include <stdlib.h>

#include "abi/sample.h"
#include "base/error.h"
#include "base/order.h"

static int compare_switches(const void *left, const void *right)
{
	const struct sample_switch *a = left, *b = right;
	if (a->order != b->order)
		return a->order < b->order ? -1 : 1;
	return COMPARE(a->position, b->position);
}

void sample_switches_settle(struct sample_switches *s)
{
	bool is_on = !s->begins_off;
	size_t kept = 0;
	if (s->changes.len)
		qsort(s->changes.items, s->changes.len, sizeof(s->changes.items[0]), compare_switches);
	for (size_t i = 0; i < s->changes.len; i++) {
		const struct sample_switch *last = kept ? &s->changes.items[kept - 1] : NULL;
		/* An event that is both "on" and "off" changes the state once per sample. */
		if (s->changes.items[i].is_on == is_on || (last && compare_switches(last, &s->changes.items[i]) == 0))
			continue;
		is_on = !is_on;
		s->changes.items[kept++] = s->changes.items[i];
	}
	s->changes.len = kept;
}

static enum tally_status sample_switches_add_event(struct sample_switches *s, const struct sample_switch_source *source,
	const struct sample_switch *at, uint32_t event, struct tally_error *err)
{
	struct sample_switch added = *at;
	for (unsigned i = 0; i < 2; i++) {
		added.is_on = i == 0;
		if ((added.is_on ? source->events->on : source->events->off) == (int64_t)event &&
			!vec_push(&s->changes, added))
			return error_nomem(err);
	}
	return TALLY_OK;
}

enum tally_status sample_switches_read(struct sample_switches *s, const struct perfdata_reader *reader,
	const struct record_run *run, const struct sample_switch_source *source, struct tally_error *err)
{
	const struct replay_switches *events = source->events;
	bool begins_off = events->before == SWITCHES_FIRST ? events->on >= 0 : events->before == SWITCHES_OFF;
	*s = (struct sample_switches){.begins_off = begins_off, .shows = events->shows};
	enum tally_status status = TALLY_OK;
	struct record record;
	/* A damaged record ends the loop; the sideband, which is read from the same records, reports it. */
	for (size_t position = 0, start = 0;
		status == TALLY_OK && record_run_next(run, &position, &record, NULL) == TALLY_OK; start = position) {
		const struct perfdata_event *event =
			record.type == RECORD_SAMPLE ? perfdata_reader_event_of(reader, &record) : NULL;
		struct sample sample;
		if (!event || (event->index != events->on && event->index != events->off) ||
			sample_decode(&event->layout, &record, &sample, NULL) != TALLY_OK ||
			(source->spans && !time_spans_have(source->spans, sample.time)))
			continue;
		struct sample_switch at = {sample_clock_at(source->clock, event, start, sample.time), start, false};
		status = sample_switches_add_event(s, source, &at, event->index, err);
	}
	sample_switches_settle(s);
	return status;
}

bool sample_switches_end_on(const struct sample_switches *s)
{
	return s->changes.len ? s->changes.items[s->changes.len - 1].is_on : !s->begins_off;
}

void sample_switches_deinit(struct sample_switches *s)
{
	vec_free(&s->changes);
}

bool sample_switches_want(const struct sample_switches *s, uint64_t order, uint64_t position)
{
	struct sample_switch at = {order, position, false};
	size_t low;
	LOWER_BOUND(low, s->changes.len, middle, compare_switches(&s->changes.items[middle], &at) <= 0);
	const struct sample_switch *last = low ? &s->changes.items[low - 1] : NULL;
	if (last && compare_switches(last, &at) == 0)
		return s->shows;
	return last ? last->is_on : !s->begins_off;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/wait_events.h"

_Static_assert((unsigned)PROFILE_STATE_NOT_TOLD == WAIT_UNTOLD && (unsigned)PROFILE_STATE_RUNNABLE == WAIT_RUNNABLE &&
		       (unsigned)PROFILE_STATE_LOCK == WAIT_FUTEX && (unsigned)PROFILE_STATE_OTHER == WAIT_OTHER &&
		       (unsigned)PROFILE_STATE_THROTTLED == WAIT_THROTTLED && (unsigned)PROFILE_STATES == WAIT_STATES,
	"profiles have the numbers of records");

bool wait_event_is(const struct perfdata_event *event)
{
	return event->attr.type == EVENT_SOFTWARE && event->attr.config == SW_BPF_OUTPUT &&
	       str_equal(event->name, STR(WAIT_EVENT_NAME));
}

/* Options after "--" belong to the recorded command. */
static bool wait_events_was_wall(const struct perfdata_string_list *words)
{
	for (size_t i = 0; i < words->len && !str_equal(words->items[i], STR("--")); i++)
		if (str_equal(words->items[i], STR("--wall")))
			return true;
	return false;
}

struct wait_events wait_events_find(struct perfdata_reader *reader, enum replay_waits wanted)
{
	struct wait_events found = {.clock = WAIT_EVENT_NONE, .wait = WAIT_EVENT_NONE};
	size_t count;
	const struct perfdata_event *events = perfdata_reader_events(reader, &count);
	for (size_t i = 0; i < count; i++) {
		if (found.wait == WAIT_EVENT_NONE && wait_event_is(&events[i]))
			found.wait = (uint32_t)i;
		const struct perf_attr *attr = &events[i].attr;
		bool is_clock =
			attr->type == EVENT_SOFTWARE && (attr->config == SW_CPU_CLOCK || attr->config == SW_TASK_CLOCK);
		if (found.clock == WAIT_EVENT_NONE && is_clock)
			found.clock = (uint32_t)i;
	}
	if (found.wait == WAIT_EVENT_NONE)
		return found;
	found.was_wall = wait_events_was_wall(&perfdata_reader_features(reader)->cmdline);
	found.has_records = (events[found.wait].attr.sample_type & SAMPLE_RAW) != 0;
	found.are_joined = found.clock != WAIT_EVENT_NONE &&
			   (wanted == WAITS_JOINED || (wanted == WAITS_IF_WALL && found.was_wall));
	return found;
}

bool wait_sample_decode(const struct perfdata_event *event, const struct sample *sample, struct wait_record *wait)
{
	bool swap = event->layout.swap;
	return wait_event_is(event) && wait_record_is(sample->raw, swap) &&
	       wait_record_decode(sample->raw, swap, wait, NULL) == TALLY_OK;
}

unsigned wait_sample_state(const struct perfdata_event *event, const struct sample *sample)
{
	struct wait_record wait;
	if (!wait_event_is(event))
		return WAIT_RUNNING;
	return wait_sample_decode(event, sample, &wait) ? wait.state : WAIT_NOT_TOLD;
}

bool wait_sample_is_sum(const struct perfdata_event *event, const struct sample *sample)
{
	struct wait_record wait;
	return wait_sample_decode(event, sample, &wait) && (wait.flags & WAIT_FLAG_SUM);
}

uint64_t wait_sample_time(const struct perfdata_event *event, const struct sample *sample)
{
	struct wait_record wait;
	bool has_end = sample->time >= WAIT_SUMS_NS && wait_sample_decode(event, sample, &wait) &&
		       (wait.flags & WAIT_FLAG_END);
	return has_end ? wait.end_ns : sample->time;
}

struct tally_str wait_sample_state_name(unsigned state)
{
	return state < WAIT_STATES ? wait_state_name((enum wait_state)state) : STR("off-cpu");
}

void wait_sample_waker(const struct perfdata_event *event, const struct sample *sample, struct text *out)
{
	struct wait_record wait;
	bool is_told = wait_sample_decode(event, sample, &wait);
	if (is_told && (wait.flags & WAIT_FLAG_INTERRUPT)) {
		text_str(out, "[interrupt]");
	} else if (is_told && (wait.flags & WAIT_FLAG_WAKER)) {
		text_bytes(out, wait.waker_comm.data, wait.waker_comm.len);
		text_char(out, ':');
		text_u64(out, wait.waker_tid);
	} else {
		text_char(out, '-');
	}
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/inject/inject_sched.h"

#include <stdlib.h>

#include "analysis/tracepoint_fields.h"
#include "base/error.h"
#include "base/map_u64.h"
#include "base/vec.h"

#define SWITCH_NAME "sched:sched_switch"
#define EXIT_NAME   "sched:sched_process_exit"
#define STAT_PREFIX "sched:sched_stat_"

enum sched_role { ROLE_NONE, ROLE_SWITCH, ROLE_STAT, ROLE_EXIT };

struct last_switch { /* The last switch of a thread; without bytes if there was none or the thread has ended. */
	struct writer bytes;
	const struct perfdata_event *event;
};

struct inject_sched {
	const struct perfdata_reader *reader;
	struct tracepoint_printer *fields; /* NULL if the recording has no sched_stat_* events. */
	struct map_u64 by_tid; /* Maps a TID to an index in switches. */
	VEC(struct last_switch) switches;
};

/* Modifiers may follow the name. */
static bool inject_sched_is_named(struct tally_str name, struct tally_str tracepoint)
{
	return str_starts_with(name, tracepoint) && (name.len == tracepoint.len || name.data[tracepoint.len] == ':');
}

static enum sched_role inject_sched_role_of(const struct perfdata_event *event)
{
	if (inject_sched_is_named(event->name, STR(SWITCH_NAME)))
		return ROLE_SWITCH;
	if (inject_sched_is_named(event->name, STR(EXIT_NAME)))
		return ROLE_EXIT;
	return str_starts_with(event->name, STR(STAT_PREFIX)) ? ROLE_STAT : ROLE_NONE;
}

static enum tally_status inject_sched_prepare(struct inject_sched *sched, struct tally_error *err)
{
	size_t count;
	const struct perfdata_event *events = perfdata_reader_events(sched->reader, &count);
	bool has_stat = false;
	for (size_t i = 0; i < count; i++) {
		enum sched_role role = inject_sched_role_of(&events[i]);
		has_stat = has_stat || role == ROLE_STAT;
		if ((role == ROLE_SWITCH || role == ROLE_EXIT) && !(events[i].attr.sample_type & SAMPLE_TID))
			return error_set(err, TALLY_INVALID, "samples of %.*s have no thread ID",
				(int)events[i].name.len, events[i].name.data);
	}
	if (!has_stat)
		return TALLY_OK;
	return tracepoint_printer_create(perfdata_reader_features(sched->reader)->tracing_data, &sched->fields, err);
}

enum tally_status inject_sched_create(
	const struct perfdata_reader *reader, struct inject_sched **out, struct tally_error *err)
{
	struct inject_sched *sched = calloc(1, sizeof(*sched));
	if (!sched)
		return error_nomem(err);
	sched->reader = reader;
	enum tally_status status = inject_sched_prepare(sched, err);
	if (status == TALLY_OK)
		*out = sched;
	else
		inject_sched_destroy(sched);
	return status;
}

void inject_sched_destroy(struct inject_sched *sched)
{
	if (!sched)
		return;
	for (size_t i = 0; i < sched->switches.len; i++)
		writer_deinit(&sched->switches.items[i].bytes);
	vec_free(&sched->switches);
	map_u64_deinit(&sched->by_tid);
	tracepoint_printer_destroy(sched->fields);
	free(sched);
}

static struct last_switch *find_switch(struct inject_sched *sched, uint32_t tid)
{
	uint64_t index;
	return map_u64_find(&sched->by_tid, tid, &index) ? &sched->switches.items[index] : NULL;
}

static bool keep_switch(
	struct inject_sched *sched, uint32_t tid, const struct perfdata_event *event, const struct record *record)
{
	struct last_switch *last = find_switch(sched, tid);
	if (!last) {
		if (!vec_push(&sched->switches, ((struct last_switch){.event = event})))
			return false;
		if (!map_u64_set(&sched->by_tid, tid, sched->switches.len - 1))
			return false;
		last = &sched->switches.items[sched->switches.len - 1];
	}
	last->event = event;
	writer_clear(&last->bytes);
	writer_bytes(&last->bytes, record->bytes.data, record->bytes.len);
	return !last->bytes.failed;
}

static bool read_pid(const struct inject_sched *sched, struct tally_bytes raw, uint32_t *pid)
{
	uint64_t number;
	bool is_there = tracepoint_number_of(sched->fields, raw, TRACEPOINT_OWN, STR("pid"), &number);
	if (is_there)
		*pid = (uint32_t)number;
	return is_there;
}

/* Writes the switch with the time of the statistics sample and the given period. */
static enum inject_sched_result inject_sched_merge(
	const struct last_switch *last, const struct sample *stat, uint64_t period, struct writer *out)
{
	const struct record_layout *layout = &last->event->layout;
	size_t start = out->len;
	out->swap = layout->swap;
	writer_bytes(out, last->bytes.data, last->bytes.len);
	if (out->failed)
		return INJECT_SCHED_NO_MEMORY;
	if (layout->time >= 0)
		writer_patch_u64(out, start + (size_t)layout->time, stat->time);
	if (layout->period >= 0)
		writer_patch_u64(out, start + (size_t)layout->period, period);
	return INJECT_SCHED_MERGED;
}

static enum inject_sched_result take_stat(
	struct inject_sched *sched, const struct perfdata_event *event, const struct sample *sample, struct writer *out)
{
	uint32_t pid;
	uint64_t period = sample->present & SAMPLE_PERIOD ? sample->period : event->attr.sample_period_or_freq;
	const struct last_switch *last = read_pid(sched, sample->raw, &pid) ? find_switch(sched, pid) : NULL;
	return last && last->bytes.len > 0 ? inject_sched_merge(last, sample, period, out) : INJECT_SCHED_DROPPED;
}

enum inject_sched_result inject_sched_sample(
	struct inject_sched *sched, const struct record *record, struct writer *out)
{
	const struct perfdata_event *event = perfdata_reader_event_of(sched->reader, record);
	enum sched_role role = event ? inject_sched_role_of(event) : ROLE_NONE;
	struct sample sample;
	/* If a sample cannot be decoded, the positions of its fields are unknown. */
	if (role == ROLE_NONE || sample_decode(&event->layout, record, &sample, NULL) != TALLY_OK)
		return INJECT_SCHED_OTHER;
	if (role == ROLE_STAT)
		return take_stat(sched, event, &sample, out);
	if (role == ROLE_SWITCH)
		return keep_switch(sched, sample.tid, event, record) ? INJECT_SCHED_DROPPED : INJECT_SCHED_NO_MEMORY;
	struct last_switch *last = find_switch(sched, sample.tid);
	if (last)
		writer_clear(&last->bytes);
	return INJECT_SCHED_DROPPED;
}

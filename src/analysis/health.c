/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/health.h"

#include <string.h>

#include "base/error.h"

/* Default of the sysctl kernel.perf_event_max_stack, which applies if the attr sets no limit. */
#define DEFAULT_MAX_STACK 127
#define AUX_TRUNCATED	  1 /* PERF_AUX_FLAG_TRUNCATED */

struct health_reading { /* The times in the last sample that contains the counter with an event ID. */
	size_t event;
	uint64_t enabled_ns, running_ns;
};

struct health_walk {
	struct perfdata_reader *reader;
	struct recording_health *out;
	/* Maps a stream ID to the time since which it is throttled; 0: it is not throttled. */
	struct map_u64 throttled_since;
	struct map_u64 reading_of; /* Maps an event ID to an index in readings. */
	VEC(struct health_reading) readings;
	/* The newest time so far, the newest one before the last FINISHED_ROUND record, and before the last but one
	 * (time_order.h). */
	uint64_t round_max_ns, flush_until_ns, flushed_ns;
	bool has_no_memory;
};

static struct health_event *event_at(struct health_walk *walk, size_t index)
{
	struct recording_health *out = walk->out;
	while (out->events.len <= index) {
		if (!vec_push(&out->events, ((struct health_event){0}))) {
			walk->has_no_memory = true;
			return NULL;
		}
	}
	return &out->events.items[index];
}

static void note_reading(struct health_walk *walk, uint64_t id, size_t event, uint64_t enabled, uint64_t running)
{
	bool is_new;
	uint64_t *slot = map_u64_at(&walk->reading_of, id, &is_new);
	struct health_reading reading = {event, enabled, running};
	if (slot && is_new) {
		*slot = walk->readings.len;
		if (vec_push(&walk->readings, reading))
			return;
		slot = NULL;
	}
	if (slot)
		walk->readings.items[*slot] = reading;
	else
		walk->has_no_memory = true;
}

/* All events of a group are scheduled together: the times of the group are those of each event. */
static void note_read_values(struct health_walk *walk, const struct perfdata_event *event, const struct sample *sample)
{
	const struct read_values *read = &sample->read;
	const uint64_t both = READ_FORMAT_TOTAL_TIME_ENABLED | READ_FORMAT_TOTAL_TIME_RUNNING;
	if ((read->format & both) != both)
		return;
	if (!(read->format & READ_FORMAT_ID)) {
		note_reading(walk, sample->id, event->index, read->time_enabled, read->time_running);
		return;
	}
	for (uint64_t i = 0; i < read->count; i++) {
		uint64_t id = read_value_get(read, i).id;
		const struct perfdata_event *member = perfdata_reader_event_by_id(walk->reader, id);
		note_reading(walk, id, member ? member->index : event->index, read->time_enabled, read->time_running);
	}
}

static void note_stacks(const struct perfdata_event *event, const struct sample *sample, struct health_event *counts)
{
	uint64_t frames = 0, most = event->attr.sample_max_stack ? event->attr.sample_max_stack : DEFAULT_MAX_STACK;
	if (attr_is_unwound(&event->attr))
		return; /* The kernel's limit does not apply to chains that were unwound in user space. */
	if (sample->present & SAMPLE_CALLCHAIN && sample->callchain.count >= most) {
		for (uint32_t i = 0; i < sample->callchain.count; i++)
			frames += sample_u64_at(sample->callchain.data, i, sample->swap) < CONTEXT_MAX;
		counts->full_chains += frames >= most;
	}
	if (sample->present & SAMPLE_STACK_USER && sample->stack_user.size > 0)
		counts->full_stacks += sample->stack_user.dyn_size >= sample->stack_user.size;
}

/* Returns the time of the sample; 0 if it has none. */
static uint64_t health_note_sample(struct health_walk *walk, const struct record *record)
{
	struct recording_health *out = walk->out;
	const struct perfdata_event *event = perfdata_reader_event_of(walk->reader, record);
	struct sample sample;
	if (!event) {
		out->input.unattributed_samples++;
		return 0;
	}
	struct health_event *counts = event_at(walk, event->index);
	if (!counts)
		return 0;
	counts->samples++;
	if (sample_decode(&event->layout, record, &sample, NULL) != TALLY_OK) {
		damaged_records_add(&out->input.damaged, record->offset, record->type);
		return 0;
	}
	note_stacks(event, &sample, counts);
	if (sample.present & SAMPLE_READ)
		note_read_values(walk, event, &sample);
	return sample.present & SAMPLE_TIME ? sample.time : 0;
}

static bool is_counted_by_event(const struct perfdata_event *event)
{
	return event && (event->attr.read_format & READ_FORMAT_LOST);
}

static void note_loss(struct health_walk *walk, const struct record *record, uint64_t lost, uint64_t time_ns)
{
	struct recording_health *out = walk->out;
	struct health_loss loss = {.time_ns = time_ns, .lost = lost, .has_time = time_ns > 0};
	const struct perfdata_event *of = perfdata_reader_event_of(walk->reader, record);
	struct health_event *event = of ? event_at(walk, of->index) : NULL;
	bool is_event_count = record->type == RECORD_LOST_SAMPLES;
	out->counts_by_event |= is_event_count && is_counted_by_event(of);
	if (event && is_event_count)
		event->lost_by_count += lost;
	else if (event)
		event->lost_by_ring += lost;
	if (is_event_count && is_counted_by_event(of))
		return; /* A total, read at the end of the recording: LOST records say when events were lost. */
	if (!event)
		out->lost_without_event += lost;
	if (!vec_push(&out->losses, loss))
		walk->has_no_memory = true;
}

static void note_throttle(struct health_walk *walk, const struct record *record, const struct record_throttle *throttle)
{
	const struct perfdata_event *event = perfdata_reader_event_of(walk->reader, record);
	struct health_event *counts = event ? event_at(walk, event->index) : NULL;
	uint64_t *since = map_u64_at(&walk->throttled_since, throttle->stream_id, NULL);
	if (!since) {
		walk->has_no_memory = true;
		return;
	}
	if (record->type == RECORD_THROTTLE) {
		walk->out->input.throttled++;
		if (counts)
			counts->throttles++;
		*since = throttle->time;
		return;
	}
	if (counts && *since > 0 && throttle->time > *since)
		counts->throttled_ns += throttle->time - *since;
	*since = 0;
}

static void note_read_record(struct health_walk *walk, const struct record *record, const struct record_read *read)
{
	const struct perfdata_event *event = perfdata_reader_event_of(walk->reader, record);
	struct health_event *counts = event ? event_at(walk, event->index) : NULL;
	struct cursor c = cursor_make(read->values, record->swap);
	struct read_values values;
	if (!counts || read_values_decode(&c, event->attr.read_format, &values, NULL) != TALLY_OK)
		return;
	counts->enabled_ns += values.time_enabled; /* Each record is the total of one thread. */
	counts->running_ns += values.time_running;
}

static void note_stat(struct health_walk *walk, const struct record_stat *stat)
{
	const struct perfdata_event *event = perfdata_reader_event_by_id(walk->reader, stat->id);
	struct health_event *counts = event ? event_at(walk, event->index) : NULL;
	if (!counts)
		return;
	counts->enabled_ns += stat->enabled;
	counts->running_ns += stat->running;
}

static void note_fields(
	struct health_walk *walk, const struct record *record, const struct record_fields *fields, uint64_t time_ns)
{
	struct recording_health *out = walk->out;
	if (record->type == RECORD_LOST) {
		out->input.lost_records++;
		out->input.lost_events += fields->lost.lost;
		note_loss(walk, record, fields->lost.lost, time_ns);
	} else if (record_is_of_filter(record)) {
		out->input.filtered_samples += fields->lost_samples.lost;
	} else if (record->type == RECORD_LOST_SAMPLES) {
		out->input.lost_samples += fields->lost_samples.lost;
		note_loss(walk, record, fields->lost_samples.lost, time_ns);
	} else if (record->type == RECORD_THROTTLE || record->type == RECORD_UNTHROTTLE) {
		note_throttle(walk, record, &fields->throttle);
	} else if (record->type == RECORD_READ) {
		note_read_record(walk, record, &fields->read);
	} else if (record->type == RECORD_STAT) {
		note_stat(walk, &fields->stat);
	} else if (record->type == RECORD_AUX) {
		out->aux_truncated += (fields->aux.flags & AUX_TRUNCATED) != 0;
	} else if (record->type == RECORD_AUXTRACE) {
		out->input.trace_bytes += fields->auxtrace.size;
	} else if (record->type == RECORD_AUXTRACE_INFO) {
		out->input.trace_type = fields->auxtrace_info.auxtrace_type;
	}
}

/* A record must not be older than the newest one before the last FINISHED_ROUND record but one: up to that time,
 * readers have sorted and used the records already. */
static void health_note_time(struct health_walk *walk, uint64_t time_ns)
{
	struct recording_health *out = walk->out;
	if (time_ns == 0)
		return;
	if (!out->has_times || time_ns < out->first_ns)
		out->first_ns = time_ns;
	if (!out->has_times || time_ns > out->last_ns)
		out->last_ns = time_ns;
	out->has_times = true;
	out->input.unordered += time_ns < walk->flushed_ns;
	if (time_ns > walk->round_max_ns)
		walk->round_max_ns = time_ns;
}

static void health_note_record(struct health_walk *walk, const struct record *record)
{
	struct record_fields fields;
	uint64_t time_ns = 0;
	struct recording_health *out = walk->out;
	if (record->type < HEALTH_KNOWN_TYPES)
		out->by_type[record->type]++;
	else
		out->other_types++;
	if (!record_type_name(record->type) && record->type < out->least_unknown_type)
		out->least_unknown_type = record->type;
	if (record->type == RECORD_SAMPLE) {
		time_ns = health_note_sample(walk, record);
	} else if (record_type_name(record->type)) {
		(void)perfdata_reader_time(walk->reader, record, &time_ns);
		if (record_decode(record, &fields, NULL) == TALLY_OK)
			note_fields(walk, record, &fields, time_ns);
		else
			damaged_records_add(&out->input.damaged, record->offset, record->type);
	}
	health_note_time(walk, time_ns);
	if (record->type == RECORD_FINISHED_ROUND) {
		walk->flushed_ns = walk->flush_until_ns;
		walk->flush_until_ns = walk->round_max_ns;
	}
}

static void finish_readings(struct health_walk *walk)
{
	for (size_t i = 0; i < walk->readings.len; i++) {
		const struct health_reading *reading = &walk->readings.items[i];
		struct health_event *event = event_at(walk, reading->event);
		if (!event)
			return;
		event->enabled_ns += reading->enabled_ns;
		event->running_ns += reading->running_ns;
	}
}

/* A LOST record has the ID of an arbitrary event of its ring buffer, so its number is used only if the kernel does not
 * count losses per event. */
static void finish_lost_of_events(struct recording_health *out)
{
	for (size_t i = 0; i < out->events.len; i++) {
		struct health_event *event = &out->events.items[i];
		event->lost = event->lost_by_count + (out->counts_by_event ? 0 : event->lost_by_ring);
	}
}

static void finish_losses(struct recording_health *out)
{
	uint64_t span = out->last_ns - out->first_ns;
	for (size_t i = 0; i < out->losses.len; i++) {
		const struct health_loss *loss = &out->losses.items[i];
		if (!loss->has_time) {
			out->lost_without_time += loss->lost;
			continue;
		}
		double share = span ? (double)(loss->time_ns - out->first_ns) / (double)span : 0;
		size_t slice = (size_t)(share * HEALTH_SLICES);
		out->lost_by_slice[slice < HEALTH_SLICES ? slice : HEALTH_SLICES - 1] += loss->lost;
	}
}

static void health_finish(struct health_walk *walk)
{
	struct recording_health *out = walk->out;
	size_t position = 0;
	uint64_t stream, since;
	while (map_u64_next(&walk->throttled_since, &position, &stream, &since))
		out->throttled_to_the_end += since > 0;
	finish_readings(walk);
	finish_losses(out);
	finish_lost_of_events(out);
	/* The reader's health describes opening and decompressing the file; the counts of the records are added
	 * here. */
	const struct input_health *seen = perfdata_reader_health(walk->reader);
	struct input_health counted = out->input;
	out->input = *seen;
	damaged_records_merge(&out->input.damaged, &counted.damaged);
	out->input.lost_events = counted.lost_events;
	out->input.lost_samples = counted.lost_samples;
	out->input.filtered_samples = counted.filtered_samples;
	out->input.lost_records = counted.lost_records;
	out->input.throttled = counted.throttled;
	out->input.unattributed_samples = counted.unattributed_samples;
	out->input.unordered = counted.unordered;
	out->input.trace_bytes = counted.trace_bytes;
	out->input.trace_type = counted.trace_type;
	out->by_type[RECORD_COMPRESSED] = seen->compressed[0];
	out->by_type[RECORD_COMPRESSED2] = seen->compressed[1];
}

enum tally_status recording_health_read(
	struct perfdata_reader *reader, struct recording_health *health, struct tally_error *err)
{
	*health = (struct recording_health){.least_unknown_type = UINT32_MAX};
	struct health_walk walk = {.reader = reader, .out = health};
	struct record record;
	enum tally_status status;
	while ((status = perfdata_reader_next(reader, &record, &health->end)) == TALLY_OK && !walk.has_no_memory)
		health_note_record(&walk, &record);
	if (status == TALLY_END)
		health->end = (struct tally_error){.status = TALLY_OK};
	health_finish(&walk);
	map_u64_deinit(&walk.throttled_since);
	map_u64_deinit(&walk.reading_of);
	vec_free(&walk.readings);
	if (!walk.has_no_memory && status != TALLY_NOMEM)
		return TALLY_OK;
	recording_health_deinit(health);
	return error_nomem(err);
}

void recording_health_deinit(struct recording_health *health)
{
	vec_free(&health->events);
	vec_free(&health->losses);
}

uint64_t recording_health_lost(const struct recording_health *health)
{
	/* If the kernel counts losses per event, lost_events and lost_samples both contain each loss: see
	 * input_health_lost. */
	return health->counts_by_event ? input_health_lost(&health->input)
				       : health->input.lost_events + health->input.lost_samples;
}

bool recording_health_is_damaged(const struct recording_health *health)
{
	return health->end.status != TALLY_OK || recording_health_is_unfinished(health) ||
	       health->input.damaged.count || health->input.damaged_features || health->input.unattributed_samples;
}

bool recording_health_is_unfinished(const struct recording_health *health)
{
	return health->input.is_unfinished || health->input.missing_parts;
}

bool recording_health_is_good(const struct recording_health *health)
{
	return !recording_health_is_damaged(health) && recording_health_lost(health) == 0 && health->aux_truncated == 0;
}

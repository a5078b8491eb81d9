#include "analysis/sideband.h"

#include <stdlib.h>

#include "analysis/jit_code.h"
#include "analysis/run_parts.h"
#include "base/error.h"
#include "base/key_sort.h"
#include "base/limits.h"

struct timed_record {
	uint64_t time_ns;
	size_t position;
	uint32_t marker, place; /* generated code: of which dump, + 1; which place, + 1 */
};

struct jit_marker { /* the mapping that names a dump */
	int32_t pid;
	struct tally_str path; /* borrowed from the record */
	struct timed_record seen;
	const struct jitdump *dump;
};

struct sideband_reading {
	struct perfdata_reader *reader;
	const struct record_run *run;
	struct sideband *out;
	VEC(struct timed_record) records;
	struct binary_store *store; /* NULL: generated code is not asked for */
	VEC(struct jit_marker) markers;
	bool is_sorted;
};

void sideband_deinit(struct sideband *sideband)
{
	machine_destroy(sideband->machine);
	sideband->machine = NULL;
	vec_free(&sideband->chunks);
	deferred_chains_deinit(&sideband->deferred);
	vec_free(&sideband->lost_by_event);
}

static bool lacks_times(struct perfdata_reader *reader)
{
	size_t count;
	const struct perfdata_event *events = perfdata_reader_events(reader, &count);
	for (size_t i = 0; i < count; i++)
		if (!events[i].layout.sample_id_all || !(events[i].attr.sample_type & SAMPLE_TIME))
			return true;
	return false;
}

static enum tally_status count_lost(
	struct sideband *out, struct perfdata_reader *reader, const struct record *record, struct tally_error *err)
{
	struct record_fields fields;
	if (record_decode(record, &fields, NULL) != TALLY_OK) {
		out->health.damaged_records++;
		return TALLY_OK;
	}
	uint64_t lost;
	if (record->type == RECORD_LOST) {
		lost = fields.lost.lost;
		out->health.lost_events += lost;
		out->health.lost_records++;
	} else {
		lost = fields.lost_samples.lost;
		out->health.lost_samples += lost;
	}
	const struct perfdata_event *event = perfdata_reader_event_of(reader, record);
	size_t index = event ? event->index : 0;
	while (out->lost_by_event.len <= index)
		if (!vec_push(&out->lost_by_event, 0))
			return error_nomem(err);
	out->lost_by_event.items[index] += lost;
	return TALLY_OK;
}

bool sideband_is_history(uint32_t type)
{
	return type == RECORD_MMAP || type == RECORD_MMAP2 || type == RECORD_COMM || type == RECORD_FORK ||
	       type == RECORD_KSYMBOL;
}

static bool add_marker(struct sideband_reading *reading, const struct record *record, const struct timed_record *timed)
{
	struct record_fields fields;
	if ((record->type != RECORD_MMAP && record->type != RECORD_MMAP2) ||
		record_decode(record, &fields, NULL) != TALLY_OK || !jit_code_is_marker(&fields.mmap) ||
		reading->markers.len >= LIMIT_JITDUMPS)
		return true;
	struct jit_marker marker = {.pid = (int32_t)fields.mmap.pid, .path = fields.mmap.filename, .seen = *timed};
	for (size_t i = 0; i < reading->markers.len; i++)
		if (reading->markers.items[i].pid == marker.pid &&
			str_equal(reading->markers.items[i].path, marker.path))
			return true;
	return vec_push(&reading->markers, marker);
}

static bool add_history(struct sideband_reading *reading, const struct record *record, size_t position)
{
	struct timed_record timed = {.position = position};
	struct sample_id id;
	if (reading->out->clock_is_position)
		timed.time_ns = position;
	else if (perfdata_reader_sample_id(reading->reader, record, &id) && id.has_time)
		timed.time_ns = id.time;
	if (reading->records.len > 0 && timed.time_ns < reading->records.items[reading->records.len - 1].time_ns)
		reading->is_sorted = false;
	return vec_push(&reading->records, timed) && (!reading->store || add_marker(reading, record, &timed));
}

static enum tally_status add_deferred(
	struct sideband_reading *reading, const struct record *record, struct tally_error *err)
{
	bool is_damaged;
	enum tally_status status = deferred_chains_add(&reading->out->deferred, record, &is_damaged, err);
	if (status == TALLY_OK && is_damaged)
		reading->out->health.damaged_records++;
	return status;
}

enum tally_status sideband_count(
	struct sideband *sideband, struct perfdata_reader *reader, const struct record *record, struct tally_error *err)
{
	struct input_health *health = &sideband->health;
	health->records++;
	health->bytes += record->bytes.len;
	if (record->type == RECORD_SAMPLE)
		health->samples++;
	else if (record->type == RECORD_LOST || record->type == RECORD_LOST_SAMPLES)
		return count_lost(sideband, reader, record, err);
	else if (record->type == RECORD_THROTTLE)
		health->throttled++;
	else if (!record_type_name(record->type))
		health->unknown_records++;
	return TALLY_OK;
}

enum tally_status sideband_take_build_id(
	struct sideband *sideband, const struct record *record, struct tally_error *err)
{
	struct record_fields fields;
	if (record_decode(record, &fields, NULL) != TALLY_OK) {
		sideband->health.damaged_records++;
		return TALLY_OK;
	}
	const struct record_header_build_id *id = &fields.build_id;
	return machine_add_build_id(sideband->machine, id->filename, id->bytes, id->size, err);
}

static enum tally_status visit(
	struct sideband_reading *reading, const struct record *record, size_t position, struct tally_error *err)
{
	if (sideband_is_history(record->type) && !add_history(reading, record, position))
		return error_nomem(err);
	if (record->type == RECORD_CALLCHAIN_DEFERRED) {
		enum tally_status status = add_deferred(reading, record, err);
		if (status != TALLY_OK)
			return status;
	}
	if (record->type == RECORD_HEADER_BUILD_ID) {
		enum tally_status status = sideband_take_build_id(reading->out, record, err);
		if (status != TALLY_OK)
			return status;
	}
	return sideband_count(reading->out, reading->reader, record, err);
}

struct walked { /* of a part of the run */
	VEC(size_t) others; /* positions of records that are no samples */
	VEC(size_t) chunks;
	uint64_t samples, sample_bytes;
	bool failed; /* out of memory */
};

struct walking {
	const struct record_run *run;
	struct walked *parts;
};

static void free_walked(struct walked *walked)
{
	vec_free(&walked->others);
	vec_free(&walked->chunks);
	*walked = (struct walked){0};
}

static bool note_record(
	struct walked *walked, const struct record_run *run, const struct record *record, size_t position)
{
	size_t chunk = walked->chunks.len > 0 ? walked->chunks.items[walked->chunks.len - 1] : 0;
	if (walked->chunks.len == 0 || position - chunk >= SIDEBAND_CHUNK_BYTES) {
		progress_add(run->progress, walked->chunks.len > 0 ? position - chunk : 0);
		if (!vec_push(&walked->chunks, position))
			return false;
	}
	if (record->type != RECORD_SAMPLE)
		return vec_push(&walked->others, position);
	walked->samples++;
	walked->sample_bytes += record->bytes.len;
	return true;
}

static void walk_part(void *context, size_t index, struct run_part *part)
{
	const struct walking *walking = context;
	const struct record_run *run = walking->run;
	struct walked walked = {0}; /* here, not in its place, which shares cache lines with others' */
	size_t position = part->begin, left = part->begin;
	record_run_move(run, &left, position);
	while (position < part->end && !part->is_cut && !walked.failed) {
		struct record record;
		size_t start = position;
		record_run_pass(run, &left, position);
		part->is_cut = record_run_next(run, &position, &record, NULL) != TALLY_OK;
		if (!part->is_cut)
			walked.failed = !note_record(&walked, run, &record, start);
	}
	part->end = position;
	free_walked(&walking->parts[index]);
	walking->parts[index] = walked;
}

/* What lies between the samples, in order. */
static enum tally_status visit_part(
	struct sideband_reading *reading, const struct walked *walked, struct tally_error *err)
{
	struct sideband *out = reading->out;
	out->health.records += walked->samples;
	out->health.samples += walked->samples;
	out->health.bytes += walked->sample_bytes;
	for (size_t i = 0; i < walked->chunks.len; i++)
		if (!vec_push(&out->chunks, walked->chunks.items[i]))
			return error_nomem(err);
	enum tally_status status = walked->failed ? error_nomem(err) : TALLY_OK;
	for (size_t i = 0; i < walked->others.len && status == TALLY_OK; i++) {
		struct record record;
		size_t position = walked->others.items[i];
		status = record_run_next(reading->run, &position, &record, err);
		if (status == TALLY_OK)
			status = visit(reading, &record, walked->others.items[i], err);
	}
	return status;
}

static enum tally_status walk(struct sideband_reading *reading, struct tally_error *err)
{
	struct sideband *out = reading->out;
	struct run_parts parts;
	if (!run_parts_init(&parts, reading->run))
		return error_nomem(err);
	struct walking walking = {reading->run, calloc(parts.count, sizeof(*walking.parts))};
	enum tally_status status = walking.parts ? TALLY_OK : error_nomem(err);
	if (status == TALLY_OK)
		run_parts_walk(&parts, walk_part, &walking);
	for (size_t i = 0; i < parts.count && status == TALLY_OK; i++) {
		status = visit_part(reading, &walking.parts[i], err);
		out->end = parts.items[i].end;
	}
	/* Parts behind a cut are empty, and cut too. */
	if (parts.count > 0 && parts.items[parts.count - 1].is_cut) {
		out->health.is_cut = true;
		out->health.cut_offset = reading->run->offset + out->end;
	}
	for (size_t i = 0; walking.parts && i < parts.count; i++)
		free_walked(&walking.parts[i]);
	free(walking.parts);
	run_parts_deinit(&parts);
	return status;
}

static int compare_time(const void *a, const void *b)
{
	const struct timed_record *x = a;
	const struct timed_record *y = b;
	if (x->time_ns != y->time_ns)
		return x->time_ns < y->time_ns ? -1 : 1;
	if (x->position != y->position)
		return x->position < y->position ? -1 : 1;
	return (x->place > y->place) - (x->place < y->place);
}

/* When its code lay where. Without times that can be compared all of it was there from the start: the last counts. */
static enum tally_status add_places(struct sideband_reading *reading, uint32_t index, struct tally_error *err)
{
	struct jit_marker *marker = &reading->markers.items[index];
	enum tally_status status = jit_code_dump(reading->store, marker->pid, marker->path, &marker->dump, err);
	if (status != TALLY_OK || !marker->dump)
		return status;
	bool has_times = !reading->out->clock_is_position && jit_code_has_times(reading->reader, marker->dump);
	reading->out->health.untimed_jitdumps += !has_times;
	for (size_t i = 0; i < marker->dump->places.len; i++) {
		struct timed_record timed = marker->seen;
		timed.marker = index + 1;
		timed.place = (uint32_t)i + 1;
		if (has_times)
			timed.time_ns = marker->dump->places.items[i].time;
		if (!vec_push(&reading->records, timed))
			return error_nomem(err);
	}
	reading->is_sorted = false;
	return TALLY_OK;
}

static enum tally_status add_all_places(struct sideband_reading *reading, struct tally_error *err)
{
	enum tally_status status = TALLY_OK;
	for (size_t i = 0; i < reading->markers.len && status == TALLY_OK; i++)
		status = add_places(reading, (uint32_t)i, err);
	return status;
}

static enum tally_status apply_place(
	struct sideband_reading *reading, const struct timed_record *timed, struct tally_error *err)
{
	const struct jit_marker *marker = &reading->markers.items[timed->marker - 1];
	const struct jitdump_place *place = &marker->dump->places.items[timed->place - 1];
	struct machine_generated code = {.pid = marker->pid,
		.path = marker->path,
		.start = place->address,
		.len = place->size,
		.offset = place->offset};
	return machine_add_generated(reading->out->machine, &code, timed->time_ns, err);
}

static uint64_t time_of(const void *record)
{
	return ((const struct timed_record *)record)->time_ns;
}

/* They are there by position, so that only times are to be sorted, unless generated code is among them. False: out of
 * memory. */
static bool sort_by_time(struct sideband_reading *reading)
{
	struct timed_record *records = reading->records.items;
	size_t count = reading->records.len;
	if (reading->markers.len == 0)
		return key_sort_items(records, count, sizeof(*records), &(key_of_item){time_of}, 1);
	qsort(records, count, sizeof(*records), compare_time);
	return true;
}

static enum tally_status apply_all(struct sideband_reading *reading, struct tally_error *err)
{
	if (!reading->is_sorted && !sort_by_time(reading))
		return error_nomem(err);
	for (size_t i = 0; i < reading->records.len; i++) {
		const struct timed_record *timed = &reading->records.items[i];
		struct record record;
		struct record_fields fields;
		size_t position = timed->position;
		struct tally_error decode_error;
		if (timed->marker) {
			enum tally_status added = apply_place(reading, timed, err);
			if (added != TALLY_OK)
				return added;
			continue;
		}
		if (record_run_next(reading->run, &position, &record, &decode_error) != TALLY_OK ||
			record_decode(&record, &fields, &decode_error) != TALLY_OK) {
			reading->out->health.damaged_records++;
			continue;
		}
		enum tally_status status = machine_apply(reading->out->machine, &record, &fields, timed->time_ns, err);
		if (status != TALLY_OK)
			return status;
	}
	return TALLY_OK;
}

static enum tally_status add_build_ids(struct sideband_reading *reading, struct tally_error *err)
{
	const struct perfdata_features *features = perfdata_reader_features(reading->reader);
	for (size_t i = 0; i < features->build_id_count; i++) {
		const struct perfdata_build_id *id = &features->build_ids[i];
		enum tally_status status =
			machine_add_build_id(reading->out->machine, id->filename, id->bytes, id->size, err);
		if (status != TALLY_OK)
			return status;
	}
	return TALLY_OK;
}

enum tally_status sideband_read(struct perfdata_reader *reader, const struct record_run *run, struct sideband *sideband,
	struct tally_error *err)
{
	return sideband_read_code(reader, run, NULL, sideband, err);
}

enum tally_status sideband_read_code(struct perfdata_reader *reader, const struct record_run *run,
	struct binary_store *store, struct sideband *sideband, struct tally_error *err)
{
	*sideband = (struct sideband){.health = *perfdata_reader_health(reader)};
	/* Of the reader's own counts, those of the header stay; those of records are this walk's. */
	struct input_health *health = &sideband->health;
	if (!run->is_copy && !run->is_pipe)
		health->damaged_records = 0;
	health->records = health->samples = health->bytes = 0;
	health->lost_events = health->lost_samples = health->lost_records = health->throttled =
		health->unknown_records = 0;
	sideband->clock_is_position = lacks_times(reader);

	struct sideband_reading reading = {
		.reader = reader, .run = run, .out = sideband, .is_sorted = true, .store = store};
	enum tally_status status = machine_create(&sideband->machine, err);
	if (status == TALLY_OK)
		status = walk(&reading, err);
	if (status == TALLY_OK)
		status = add_all_places(&reading, err);
	if (status == TALLY_OK)
		status = apply_all(&reading, err);
	if (status == TALLY_OK)
		status = add_build_ids(&reading, err);
	if (status == TALLY_OK)
		status = machine_finish(sideband->machine, err);
	vec_free(&reading.records);
	vec_free(&reading.markers);
	if (status == TALLY_OK && run->end_error.status != TALLY_OK) {
		health->is_cut = true;
		health->cut_offset = run->end_error.offset;
	}
	if (status != TALLY_OK)
		sideband_deinit(sideband);
	return status;
}

#include "analysis/sideband.h"

#include <stdlib.h>

#include "analysis/jit_code.h"
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

static enum tally_status walk(struct sideband_reading *reading, struct tally_error *err)
{
	struct sideband *out = reading->out;
	size_t position = 0, left = 0;
	record_run_move(reading->run, &left, 0);
	for (;;) {
		struct record record;
		struct tally_error walk_error;
		size_t start = position;
		record_run_pass(reading->run, &left, position);
		enum tally_status status = record_run_next(reading->run, &position, &record, &walk_error);
		if (status != TALLY_OK) {
			out->end = start;
			if (status == TALLY_END)
				return TALLY_OK;
			out->health.is_cut = true;
			out->health.cut_offset = reading->run->offset + start;
			return TALLY_OK;
		}
		size_t chunk = out->chunks.len > 0 ? out->chunks.items[out->chunks.len - 1] : 0;
		if (out->chunks.len == 0 || start - chunk >= SIDEBAND_CHUNK_BYTES) {
			progress_add(reading->run->progress, start - chunk);
			if (!vec_push(&out->chunks, start))
				return error_nomem(err);
		}
		status = visit(reading, &record, start, err);
		if (status != TALLY_OK)
			return status;
	}
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

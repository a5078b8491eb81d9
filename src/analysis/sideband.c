/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/sideband.h"

#include <stdlib.h>

#include "analysis/jit_code.h"
#include "analysis/run_parts.h"
#include "analysis/store_entry.h"
#include "base/error.h"
#include "base/key_sort.h"
#include "base/limits.h"

#define PARTS_EACH 4 /* Number of parts of the records per worker; with several, workers end at about the same time. */
#define PREFETCH   8 /* Number of records to prefetch ahead. */

struct jit_marker { /* The mapping that names a jitdump. */
	int32_t pid;
	struct tally_str path; /* Borrowed from the record. */
	struct sort_key seen; /* Time and position of the mapping. */
	const struct jitdump *dump;
};

struct marker_list {
	struct jit_marker *items;
	size_t len, cap;
};

struct timed_place { /* Generated code that is at an address from a time on. */
	uint64_t time_ns;
	uint32_t marker, place; /* marker: index of its jitdump in markers; place: index in the places of the dump. */
};

struct sideband_reading {
	struct perfdata_reader *reader;
	const struct record_run *run;
	struct sideband *out;
	VEC(struct sort_key) history; /* Records to apply to the machine: time and position. */
	struct binary_store *store; /* NULL if generated code is not requested. */
	struct marker_list markers;
	VEC(struct timed_place) places;
	uint64_t kernels; /* Number of records that map a kernel. */
	bool loads_ahead; /* Binaries are added to the store as they are found. */
	uint32_t named; /* Number of binaries of the machine that sideband_load_ahead has handled. */
};

void sideband_deinit(struct sideband *sideband)
{
	machine_destroy(sideband->machine);
	sideband->machine = NULL;
	vec_free(&sideband->chunks);
	deferred_chains_deinit(&sideband->deferred);
	sample_clock_deinit(&sideband->clock);
	vec_free(&sideband->lost_by_event);
}

static enum tally_status sideband_count_lost(
	struct sideband *out, struct perfdata_reader *reader, const struct record *record, struct tally_error *err)
{
	struct record_fields fields;
	if (record_decode(record, &fields, NULL) != TALLY_OK) {
		damaged_records_add(&out->health.damaged, record->offset, record->type);
		return TALLY_OK;
	}
	uint64_t lost;
	if (record_is_of_filter(record)) {
		out->health.filtered_samples += fields.lost_samples.lost;
		return TALLY_OK;
	}
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

static void count_trace(struct input_health *health, const struct record *record)
{
	struct record_fields fields;
	if (record_decode(record, &fields, NULL) != TALLY_OK)
		damaged_records_add(&health->damaged, record->offset, record->type);
	else if (record->type == RECORD_AUXTRACE)
		health->trace_bytes += fields.auxtrace.size;
	else
		health->trace_type = fields.auxtrace_info.auxtrace_type;
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
		return sideband_count_lost(sideband, reader, record, err);
	else if (record->type == RECORD_THROTTLE)
		health->throttled++;
	else if (record->type == RECORD_AUXTRACE || record->type == RECORD_AUXTRACE_INFO)
		count_trace(health, record);
	else if (!record_type_name(record->type))
		health->unknown_records++;
	return TALLY_OK;
}

enum tally_status sideband_take_build_id(
	struct sideband *sideband, const struct record *record, struct tally_error *err)
{
	struct record_fields fields;
	if (record_decode(record, &fields, NULL) != TALLY_OK) {
		damaged_records_add(&sideband->health.damaged, record->offset, record->type);
		return TALLY_OK;
	}
	const struct record_header_build_id *id = &fields.build_id;
	struct machine_listed_id entry = {record->misc, id->pid, id->filename, {.size = id->size}};
	memcpy(entry.id.bytes, id->bytes, sizeof(entry.id.bytes));
	return machine_add_build_id(sideband->machine, &entry, err);
}

static enum tally_status sideband_visit(
	struct sideband_reading *reading, const struct record *record, struct tally_error *err)
{
	if (record->type == RECORD_CALLCHAIN_DEFERRED) {
		bool is_damaged;
		enum tally_status status = deferred_chains_add(&reading->out->deferred, record, &is_damaged, err);
		if (status != TALLY_OK)
			return status;
		if (is_damaged)
			damaged_records_add(&reading->out->health.damaged, record->offset, record->type);
	}
	if (record->type == RECORD_HEADER_BUILD_ID) {
		enum tally_status status = sideband_take_build_id(reading->out, record, err);
		if (status != TALLY_OK)
			return status;
	}
	return sideband_count(reading->out, reading->reader, record, err);
}

struct walked { /* Results for one part of the records (struct run_part). */
	VEC(struct sort_key) history; /* Records to apply to the machine: time and position. */
	struct marker_list markers;
	VEC(size_t)
	others; /* Positions of other records that must be inspected. */
	VEC(size_t) chunks;
	struct clock_marks marks;
	uint64_t samples, plain; /* plain: records that are only counted. */
	uint64_t bytes; /* Total size of the records that are not in others. */
	uint64_t kernels; /* Number of records that map a kernel. */
	bool failed; /* Memory was exhausted. */
};

struct sideband_walking {
	const struct sideband_reading *reading;
	struct walked *parts;
};

static void free_walked(struct walked *walked)
{
	vec_free(&walked->history);
	vec_free(&walked->markers);
	vec_free(&walked->others);
	vec_free(&walked->chunks);
	vec_free(&walked->marks.items);
	*walked = (struct walked){0};
}

static bool add_marker(struct marker_list *markers, const struct jit_marker *marker)
{
	if (markers->len >= LIMIT_JITDUMPS)
		return true;
	for (size_t i = 0; i < markers->len; i++)
		if (markers->items[i].pid == marker->pid && str_equal(markers->items[i].path, marker->path))
			return true;
	return vec_push(markers, *marker);
}

static bool note_marker(struct walked *walked, const struct record *record, const struct sort_key *seen)
{
	struct record_fields fields;
	if (!jit_code_may_be_marker(record_mmap_name(record)) || record_decode(record, &fields, NULL) != TALLY_OK ||
		!jit_code_is_marker(&fields.mmap))
		return true;
	struct jit_marker marker = {.pid = (int32_t)fields.mmap.pid, .path = fields.mmap.filename, .seen = *seen};
	return add_marker(&walked->markers, &marker);
}

static bool sideband_note_record(
	struct walked *walked, const struct sideband_reading *reading, const struct record *record, size_t position)
{
	const struct record_run *run = reading->run;
	size_t chunk = walked->chunks.len > 0 ? walked->chunks.items[walked->chunks.len - 1] : 0;
	if (walked->chunks.len == 0 || position - chunk >= SIDEBAND_CHUNK_BYTES) {
		progress_add(run->progress, walked->chunks.len > 0 ? position - chunk : 0);
		if (!vec_push(&walked->chunks, position))
			return false;
	}
	const struct sample_clock *clock = &reading->out->clock;
	if (clock->is_mixed && !sample_clock_note(&walked->marks, reading->reader, record, position))
		return false;
	bool is_history = sideband_is_history(record->type);
	bool is_plain = record->type == RECORD_EXIT || record->type == RECORD_FINISHED_ROUND;
	if (record->type != RECORD_SAMPLE && !is_history && !is_plain)
		return vec_push(&walked->others, position);
	walked->bytes += record->bytes.len;
	walked->samples += record->type == RECORD_SAMPLE;
	walked->plain += is_plain;
	if (!is_history)
		return true;
	struct sort_key timed = {.index = position};
	if (clock->is_position)
		timed.key = position;
	else
		(void)perfdata_reader_time(reading->reader, record, &timed.key);
	/* A record that maps a kernel is recognized by its name alone; counting too many is harmless. */
	walked->kernels += (record->type == RECORD_MMAP || record->type == RECORD_MMAP2) &&
			   str_starts_with(record_mmap_name(record), STR("[kernel."));
	return vec_push(&walked->history, timed) && (!reading->store || note_marker(walked, record, &timed));
}

static void sideband_walk_part(void *context, size_t index, struct run_part *part)
{
	const struct sideband_walking *walking = context;
	const struct record_run *run = walking->reading->run;
	/* A local variable, because the items of walking->parts share cache lines. */
	struct walked walked = {.marks = CLOCK_MARKS_NONE};
	size_t position = part->begin, left = part->begin;
	record_run_move(run, &left, position);
	while (position < part->end && !part->is_cut && !walked.failed) {
		struct record record;
		size_t start = position;
		record_run_pass(run, &left, position);
		part->is_cut = record_run_next(run, &position, &record, NULL) != TALLY_OK;
		if (!part->is_cut)
			walked.failed = !sideband_note_record(&walked, walking->reading, &record, start);
	}
	part->end = position;
	free_walked(&walking->parts[index]);
	walking->parts[index] = walked;
}

static bool take_history(struct sideband_reading *reading, const struct walked *walked)
{
	size_t count = walked->history.len;
	if (!vec_reserve(&reading->history, reading->history.len + count))
		return false;
	if (count > 0)
		memcpy(reading->history.items + reading->history.len, walked->history.items,
			count * sizeof(*walked->history.items));
	reading->history.len += count;
	reading->kernels += walked->kernels;
	for (size_t i = 0; i < walked->markers.len; i++)
		if (!add_marker(&reading->markers, &walked->markers.items[i]))
			return false;
	return true;
}

/* Adds the results of a part; called in the order of the parts. */
static enum tally_status visit_part(
	struct sideband_reading *reading, const struct walked *walked, struct tally_error *err)
{
	struct sideband *out = reading->out;
	out->health.records += walked->samples + walked->plain + walked->history.len;
	out->health.samples += walked->samples;
	out->health.bytes += walked->bytes;
	for (size_t i = 0; i < walked->chunks.len; i++)
		if (!vec_push(&out->chunks, walked->chunks.items[i]))
			return error_nomem(err);
	bool is_taken = take_history(reading, walked) && sample_clock_take(&out->clock, &walked->marks);
	enum tally_status status = walked->failed || !is_taken ? error_nomem(err) : TALLY_OK;
	for (size_t i = 0; i < walked->others.len && status == TALLY_OK; i++) {
		struct record record;
		size_t position = walked->others.items[i];
		status = record_run_next(reading->run, &position, &record, err);
		if (status == TALLY_OK)
			status = sideband_visit(reading, &record, err);
	}
	return status;
}

static enum tally_status sideband_walk(struct sideband_reading *reading, struct tally_error *err)
{
	struct sideband *out = reading->out;
	struct run_parts parts;
	if (!run_parts_init(&parts, reading->run, PARTS_EACH))
		return error_nomem(err);
	struct sideband_walking walking = {reading, calloc(parts.count, sizeof(*walking.parts))};
	enum tally_status status = walking.parts ? TALLY_OK : error_nomem(err);
	if (status == TALLY_OK)
		run_parts_walk(&parts, sideband_walk_part, &walking);
	for (size_t i = 0; i < parts.count && status == TALLY_OK; i++) {
		status = visit_part(reading, &walking.parts[i], err);
		out->end = parts.items[i].end;
	}
	/* Parts after a damaged record are empty, and their is_cut is set, too. */
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

/* Adds where the code of a dump was, and from when on. If the dump's times cannot be compared with those of the
 * records, all code is taken to exist from the dump's mapping on, and the last code at an address wins. */
static enum tally_status sideband_add_places(struct sideband_reading *reading, uint32_t index, struct tally_error *err)
{
	struct jit_marker *marker = &reading->markers.items[index];
	enum tally_status status =
		jit_code_dump(reading->store, reading->reader, marker->pid, marker->path, &marker->dump, err);
	if (status != TALLY_OK || !marker->dump)
		return status;
	bool has_times = !reading->out->clock.is_position && jit_code_has_times(reading->reader, marker->dump);
	reading->out->health.untimed_jitdumps += !has_times;
	for (size_t i = 0; i < marker->dump->places.len; i++) {
		struct timed_place timed = {.time_ns = marker->seen.key, .marker = index, .place = (uint32_t)i};
		if (has_times)
			timed.time_ns = marker->dump->places.items[i].time;
		if (!vec_push(&reading->places, timed))
			return error_nomem(err);
	}
	return TALLY_OK;
}

/* Adds the generated code (places) that existed before a record to the machine, from *next on. At equal times a place
 * follows the record that names its dump. */
static enum tally_status apply_places(
	struct sideband_reading *reading, const struct sort_key *record, size_t *next, struct tally_error *err)
{
	for (; *next < reading->places.len; ++*next) {
		const struct timed_place *timed = &reading->places.items[*next];
		const struct jit_marker *marker = &reading->markers.items[timed->marker];
		if (timed->time_ns > record->key ||
			(timed->time_ns == record->key && marker->seen.index >= record->index))
			break;
		const struct jitdump_place *place = &marker->dump->places.items[timed->place];
		struct machine_generated code = {.pid = marker->pid,
			.path = marker->path,
			.start = place->address,
			.len = place->size,
			.offset = place->offset};
		enum tally_status status = machine_add_generated(reading->out->machine, &code, timed->time_ns, err);
		if (status != TALLY_OK)
			return status;
	}
	return TALLY_OK;
}

static enum tally_status apply_record(
	struct sideband_reading *reading, const struct sort_key *timed, struct tally_error *err)
{
	struct record record;
	struct record_fields fields;
	size_t position = timed->index;
	if (record_run_next(reading->run, &position, &record, NULL) != TALLY_OK)
		reading->out->health.damaged.count++;
	else if (record_decode(&record, &fields, NULL) == TALLY_OK)
		return machine_apply(reading->out->machine, &record, &fields, timed->key, err);
	else
		damaged_records_add(&reading->out->health.damaged, record.offset, record.type);
	return TALLY_OK;
}

static uint64_t sideband_time_of(const void *place)
{
	return ((const struct timed_place *)place)->time_ns;
}

/* Sorts records and generated code by time. Both lists are in order of position already, so that a stable sort by time
 * suffices. Returns false if out of memory. */
static bool sort_by_time(struct sideband_reading *reading)
{
	size_t count = reading->history.len;
	struct sort_key *room = malloc((count + 1) * sizeof(*room));
	if (room)
		key_sort_by_all(reading->history.items, room, count, reading->run->threads);
	free(room);
	return room && key_sort_items(reading->places.items, reading->places.len, sizeof(*reading->places.items),
			       &(key_of_item){sideband_time_of}, 1);
}

/* Queues the binaries that are new in the machine: a thread of the store reads their symbols while this one goes on
 * applying records. */
static enum tally_status sideband_load_ahead(struct sideband_reading *reading, struct tally_error *err)
{
	const struct machine *machine = reading->out->machine;
	enum tally_status status = TALLY_OK;
	while (reading->loads_ahead && status == TALLY_OK && reading->named < machine_binary_count(machine)) {
		uint32_t binary = reading->named++;
		bool is_kernel = machine_binary_get(machine, binary)->kind == MACHINE_KERNEL;
		if (!is_kernel || reading->kernels == 1)
			status = store_entry_load_ahead(machine, reading->store, binary, err);
	}
	return status;
}

static enum tally_status sideband_apply_all(struct sideband_reading *reading, struct tally_error *err)
{
	const struct sort_key *history = reading->history.items;
	const uint8_t *bytes = reading->run->bytes.data;
	size_t count = reading->history.len, place = 0;
	enum tally_status status = sort_by_time(reading) ? TALLY_OK : error_nomem(err);
	for (size_t i = 0; i < count && status == TALLY_OK; i++) {
		/* Records that are ordered by time are scattered in memory. */
		if (i + PREFETCH < count)
			__builtin_prefetch(bytes + history[i + PREFETCH].index);
		status = apply_places(reading, &history[i], &place, err);
		if (status == TALLY_OK)
			status = apply_record(reading, &history[i], err);
		if (status == TALLY_OK)
			status = sideband_load_ahead(reading, err);
	}
	const struct sort_key end = {UINT64_MAX, SIZE_MAX};
	return status == TALLY_OK ? apply_places(reading, &end, &place, err) : status;
}

static enum tally_status add_build_ids(struct sideband_reading *reading, struct tally_error *err)
{
	const struct perfdata_features *features = perfdata_reader_features(reading->reader);
	for (size_t i = 0; i < features->build_id_count; i++) {
		const struct perfdata_build_id *id = &features->build_ids[i];
		struct machine_listed_id entry = {id->misc, id->pid, id->filename, {.size = id->size}};
		memcpy(entry.id.bytes, id->bytes, sizeof(entry.id.bytes));
		enum tally_status status = machine_add_build_id(reading->out->machine, &entry, err);
		if (status != TALLY_OK)
			return status;
	}
	return TALLY_OK;
}

enum tally_status sideband_create_machine(
	const struct perfdata_reader *reader, struct machine **machine, struct tally_error *err)
{
	const struct tally_str name = perfdata_reader_features(reader)->arch;
	const struct arch *arch = name.len > 0 ? arch_find_named(name.data) : NULL;
	enum tally_status status = machine_create(machine, err);
	if (status == TALLY_OK && arch && arch->pointer_bytes == 4)
		machine_set_32_bit(*machine);
	return status;
}

static enum tally_status sideband_read_all(struct sideband_reading *reading, struct tally_error *err)
{
	struct perfdata_reader *reader = reading->reader;
	const struct record_run *run = reading->run;
	struct sideband *sideband = reading->out;
	*sideband = (struct sideband){.health = *perfdata_reader_health(reader)};
	/* Keeps the reader's counts for the header; the counts of records come from this walk. */
	struct input_health *health = &sideband->health;
	if (!run->is_copy && !run->is_pipe)
		health->damaged = (struct damaged_records){0};
	health->records = health->samples = health->bytes = 0;
	health->lost_events = health->lost_samples = health->filtered_samples = health->lost_records =
		health->throttled = health->unknown_records = 0;
	sample_clock_init(&sideband->clock, reader);

	enum tally_status status = sideband_create_machine(reader, &sideband->machine, err);
	if (status == TALLY_OK)
		status = sideband_walk(reading, err);
	for (size_t i = 0; i < reading->markers.len && status == TALLY_OK; i++)
		status = sideband_add_places(reading, (uint32_t)i, err);
	if (status == TALLY_OK)
		status = add_build_ids(reading, err);
	if (status == TALLY_OK)
		status = sideband_apply_all(reading, err);
	if (status == TALLY_OK)
		status = machine_finish(sideband->machine, err);
	if (reading->loads_ahead)
		binary_store_end_ahead(reading->store);
	vec_free(&reading->history);
	vec_free(&reading->markers);
	vec_free(&reading->places);
	if (status == TALLY_OK && run->end_error.status != TALLY_OK) {
		health->is_cut = true;
		health->cut_offset = run->end_error.offset;
	}
	if (status != TALLY_OK)
		sideband_deinit(sideband);
	return status;
}

enum tally_status sideband_read(struct perfdata_reader *reader, const struct record_run *run, struct sideband *sideband,
	struct tally_error *err)
{
	return sideband_read_code(reader, run, NULL, sideband, err);
}

enum tally_status sideband_read_code(struct perfdata_reader *reader, const struct record_run *run,
	struct binary_store *store, struct sideband *sideband, struct tally_error *err)
{
	struct sideband_reading reading = {.reader = reader, .run = run, .out = sideband, .store = store};
	return sideband_read_all(&reading, err);
}

enum tally_status sideband_read_loading(struct perfdata_reader *reader, const struct record_run *run,
	struct binary_store *store, struct sideband *sideband, struct tally_error *err)
{
	struct sideband_reading reading = {
		.reader = reader, .run = run, .out = sideband, .store = store, .loads_ahead = true};
	return sideband_read_all(&reading, err);
}

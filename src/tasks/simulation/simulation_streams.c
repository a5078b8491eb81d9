/* SPDX-License-Identifier: Apache-2.0 */
#include "tasks/simulation/simulation_streams.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "abi/sample.h"
#include "base/array.h"
#include "base/error.h"
#include "base/file.h"
#include "base/map_u64.h"
#include "base/vec.h"
#include "tasks/simulation/simulation_file.h"

#define NO_IMAGE	 UINT32_MAX
#define RECORD_MOST	 65536
#define RECORD_TASK_TIME 24 /* Offset of the time in FORK and EXIT records. */

struct simulation_stream { /* The stream of one process image. */
	struct file_map map; /* Empty if the caller owns the bytes. */
	char *name;
	struct sim_header header;
	struct tally_str model; /* Points into the file. */
	struct tally_bytes bytes; /* Ends after the last record that can be read. */
	uint64_t end_time; /* Time of the last record, on the clock of this image. */
	bool is_placed, is_being_placed;
	uint32_t depth; /* Number of images before this one: parents, and earlier images of the same process. */
	uint64_t offset; /* Added to the times of this image to get global times. */
	size_t position; /* Offset of the next record. */
	uint64_t time; /* Global time of that record, which never decreases. */
	uint64_t lost_records, lost_samples;
};

struct simulation_fork {
	uint32_t image; /* Index of the image with the record. */
	uint64_t time;
};

struct simulation_streams {
	VEC(struct simulation_stream) images;
	VEC(struct simulation_fork) forks;
	struct map_u64 fork_of; /* Maps the PID of a child to an index in forks. */
	struct map_u64 image_of; /* Maps the PID and the number of an image to an index in images. */
	uint32_t *heap; /* Binary heap of the images that have a next record, earliest first. */
	size_t heap_len;
	uint32_t first; /* Index of the first image of the simulation. */
	struct record_layout layout; /* Layout of samples. */
	struct simulation_stream_totals totals;
	uint8_t room[RECORD_MOST]; /* Copy of the record that simulation_streams_next has returned. */
	uint64_t bytes;
};

static uint64_t simulation_streams_key(uint32_t pid, uint32_t image)
{
	return (uint64_t)pid << 32 | image;
}

static uint64_t simulation_streams_sum(uint64_t a, uint64_t b)
{
	return a + b < a ? UINT64_MAX : a + b;
}

enum tally_status simulation_streams_create(struct simulation_streams **out, struct tally_error *err)
{
	*out = calloc(1, sizeof(**out));
	return *out ? TALLY_OK : error_nomem(err);
}

void simulation_streams_destroy(struct simulation_streams *streams)
{
	if (!streams)
		return;
	for (size_t i = 0; i < streams->images.len; i++) {
		file_map_close(&streams->images.items[i].map);
		free(streams->images.items[i].name);
	}
	vec_free(&streams->images);
	vec_free(&streams->forks);
	map_u64_deinit(&streams->fork_of);
	map_u64_deinit(&streams->image_of);
	free(streams->heap);
	free(streams);
}

/* Returns whether both files have been written with the same options. */
static bool simulation_streams_is_alike(const struct sim_header *a, const struct sim_header *b)
{
	return a->machine == b->machine && a->stack_bytes == b->stack_bytes && a->registers == b->registers &&
	       a->sampled_count == b->sampled_count && memcmp(a->sampled, b->sampled, sizeof(a->sampled)) == 0;
}

struct perf_attr simulation_streams_attr(const struct simulation_streams *streams)
{
	const struct sim_header *h = simulation_streams_header(streams);
	return (struct perf_attr){.size = ATTR_SIZE_KNOWN,
		.sample_type = SIM_SAMPLE_TYPE,
		.flags = ATTR_FLAG(ATTR_BIT_SAMPLE_ID_ALL),
		.sample_regs_user = h->registers,
		.sample_stack_user = h->stack_bytes};
}

static uint64_t simulation_streams_time(const struct record *record)
{
	struct sim_id id;
	size_t len = record->bytes.len;
	uint64_t time = 0;
	if (record->type == RECORD_SAMPLE || record->type == SIM_RECORD_COUNTS || record->type == SIM_RECORD_LOST) {
		size_t at = record->type == RECORD_SAMPLE ? 32 : 8;
		if (len >= at + sizeof(time))
			memcpy(&time, record->bytes.data + at, sizeof(time));
		return time;
	}
	if (len < RECORD_HEADER_BYTES + sizeof(id))
		return 0;
	memcpy(&id, record->bytes.data + len - sizeof(id), sizeof(id));
	return id.time;
}

static enum tally_status simulation_streams_note_fork(
	struct simulation_streams *streams, uint32_t image, const struct record *record, struct tally_error *err)
{
	struct record_fields fields;
	bool is_new;
	if (record_decode(record, &fields, NULL) != TALLY_OK || fields.task.pid == fields.task.ppid)
		return TALLY_OK;
	uint64_t *index = map_u64_at(&streams->fork_of, fields.task.pid, &is_new);
	if (!index)
		return error_nomem(err);
	if (!is_new)
		return TALLY_OK;
	*index = streams->forks.len;
	const struct simulation_fork fork = {image, simulation_streams_time(record)};
	return vec_push(&streams->forks, fork) ? TALLY_OK : error_nomem(err);
}

/* Finds the end of the readable records, and collects the forks that other files refer to. */
static enum tally_status simulation_streams_scan(
	struct simulation_streams *streams, uint32_t index, struct diag *diag, struct tally_error *err)
{
	struct simulation_stream *image = &streams->images.items[index];
	struct tally_error why = {0};
	struct record record;
	size_t at = image->header.size;
	enum tally_status status = TALLY_OK, read;
	while ((read = record_at(image->bytes, false, at, &record, &why)) == TALLY_OK && status == TALLY_OK) {
		uint64_t time = simulation_streams_time(&record);
		if (time > image->end_time)
			image->end_time = time;
		if (record.type == RECORD_FORK)
			status = simulation_streams_note_fork(streams, index, &record, err);
		at += record.bytes.len;
	}
	if (status == TALLY_OK && read != TALLY_END) {
		diag_add(diag, DIAG_WARNING,
			"the simulator's file '%s' of process %u is cut or damaged at offset %zu: %zu bytes are left "
			"out",
			image->name, image->header.pid, at, image->bytes.len - at);
		streams->totals.cut++;
	}
	image->bytes.len = at;
	return status;
}

enum tally_status simulation_streams_add(struct simulation_streams *streams, const char *name, struct tally_bytes bytes,
	struct diag *diag, struct tally_error *err)
{
	struct simulation_stream image = {.bytes = bytes};
	const char *problem = simulation_file_header(bytes, &image.header, &image.model);
	uint64_t known;
	if (streams->images.len >= NO_IMAGE)
		return error_set(err, TALLY_LIMIT, "there are too many files of the simulator");
	uint64_t key = simulation_streams_key(image.header.pid, image.header.image);
	if (!problem && map_u64_find(&streams->image_of, key, &known))
		problem = "another file is of this process image, too";
	if (!problem && streams->images.len &&
		!simulation_streams_is_alike(&image.header, &streams->images.items[0].header))
		problem = "it does not sample the same events as the others";
	if (problem) {
		diag_add(diag, DIAG_WARNING, "the simulator's file '%s' is left out: %s", name, problem);
		return TALLY_INVALID;
	}
	image.name = strdup(name);
	if (!image.name)
		return error_nomem(err);
	if (!map_u64_set(&streams->image_of, key, streams->images.len) || !vec_push(&streams->images, image)) {
		free(image.name);
		return error_nomem(err);
	}
	streams->bytes += bytes.len;
	streams->totals.images++;
	return simulation_streams_scan(streams, (uint32_t)(streams->images.len - 1), diag, err);
}

/* Returns the previous image of the process or its parent's image; *time is when that image ended or forked. */
static uint32_t simulation_streams_before(
	const struct simulation_streams *streams, const struct simulation_stream *image, uint64_t *time)
{
	const struct sim_header *h = &image->header;
	uint64_t index;
	if (h->image > 0) {
		if (!map_u64_find(&streams->image_of, simulation_streams_key(h->pid, h->image - 1), &index))
			return NO_IMAGE;
		*time = streams->images.items[index].end_time;
		return (uint32_t)index;
	}
	if (!map_u64_find(&streams->fork_of, h->pid, &index))
		return NO_IMAGE;
	*time = streams->forks.items[index].time;
	return streams->forks.items[index].image;
}

/* Computes the offsets of an image and all images before it. A cycle, which only damaged files have, ends at its
 * start. */
static void simulation_streams_place_one(struct simulation_streams *streams, uint32_t index, uint32_t *path)
{
	struct simulation_stream *images = streams->images.items;
	size_t len = 0;
	uint64_t time = 0;
	for (uint32_t at = index; at != NO_IMAGE && !images[at].is_placed && !images[at].is_being_placed;
		at = simulation_streams_before(streams, &images[at], &time)) {
		images[at].is_being_placed = true;
		path[len++] = at;
	}
	while (len > 0) {
		struct simulation_stream *image = &images[path[--len]];
		uint32_t before = simulation_streams_before(streams, image, &time);
		if (before != NO_IMAGE && images[before].is_placed) {
			image->offset = simulation_streams_sum(images[before].offset, time);
			image->depth = images[before].depth + 1;
		}
		image->is_placed = true;
	}
}

static bool simulation_streams_is_before(const struct simulation_streams *streams, uint32_t a, uint32_t b)
{
	const struct simulation_stream *x = &streams->images.items[a], *y = &streams->images.items[b];
	if (x->time != y->time)
		return x->time < y->time;
	if (x->depth != y->depth)
		return x->depth < y->depth;
	return simulation_streams_key(x->header.pid, x->header.image) <
	       simulation_streams_key(y->header.pid, y->header.image);
}

static void simulation_streams_sink(struct simulation_streams *streams, size_t at)
{
	uint32_t *heap = streams->heap;
	for (;;) {
		size_t least = at;
		for (size_t child = 2 * at + 1; child <= 2 * at + 2 && child < streams->heap_len; child++)
			if (simulation_streams_is_before(streams, heap[child], heap[least]))
				least = child;
		if (least == at)
			return;
		uint32_t moved = heap[at];
		heap[at] = heap[least];
		heap[least] = moved;
		at = least;
	}
}

/* Sets the time of the record at the image's position. Returns false if there is none. */
static bool simulation_streams_look(struct simulation_stream *image)
{
	struct record record;
	if (record_at(image->bytes, false, image->position, &record, NULL) != TALLY_OK)
		return false;
	uint64_t time = simulation_streams_sum(image->offset, simulation_streams_time(&record));
	bool is_of_whole =
		/* These records are rewritten at the end, so their times are not in order. */
		record.type == SIM_RECORD_COUNTS || record.type == SIM_RECORD_LOST;
	if (time > image->time && !is_of_whole)
		image->time = time;
	return true;
}

enum tally_status simulation_streams_place(struct simulation_streams *streams, struct tally_error *err)
{
	size_t count = streams->images.len;
	if (count == 0)
		return error_set(err, TALLY_NOT_FOUND, "the simulator wrote no file that can be read");
	uint32_t *path = malloc(count * sizeof(*path));
	streams->heap = malloc(count * sizeof(*streams->heap));
	if (!path || !streams->heap) {
		free(path);
		return error_nomem(err);
	}
	for (size_t i = 0; i < count; i++)
		simulation_streams_place_one(streams, (uint32_t)i, path);
	free(path);
	for (size_t i = 0; i < count; i++) {
		struct simulation_stream *image = &streams->images.items[i];
		image->position = image->header.size;
		image->time = image->offset;
		if (simulation_streams_is_before(streams, (uint32_t)i, streams->first))
			streams->first = (uint32_t)i;
	}
	for (size_t i = 0; i < count; i++)
		if (simulation_streams_look(&streams->images.items[i]))
			streams->heap[streams->heap_len++] = (uint32_t)i;
	for (size_t i = streams->heap_len / 2; i-- > 0;)
		simulation_streams_sink(streams, i);
	const struct perf_attr attr = simulation_streams_attr(streams);
	streams->layout = record_layout_make(&attr, false);
	return TALLY_OK;
}

static enum tally_status simulation_streams_add_file(struct simulation_streams *streams, const char *directory,
	const char *name, struct diag *diag, struct tally_error *err)
{
	char path[PATH_MAX];
	struct file_map map;
	if ((size_t)snprintf(path, sizeof(path), "%s/%s", directory, name) >= sizeof(path))
		return error_set(err, TALLY_INVALID, "the path '%s/%s' is too long", directory, name);
	enum tally_status status = file_map_open(path, &map, err);
	if (status != TALLY_OK)
		return status;
	size_t before = streams->images.len;
	status = simulation_streams_add(streams, name, map.bytes, diag, err);
	if (streams->images.len > before)
		streams->images.items[before].map = map;
	else
		file_map_close(&map);
	return status == TALLY_INVALID ? TALLY_OK : status;
}

enum tally_status simulation_streams_open(
	const char *directory, struct diag *diag, struct simulation_streams **out, struct tally_error *err)
{
	struct simulation_streams *streams;
	enum tally_status status = simulation_streams_create(&streams, err);
	if (status != TALLY_OK)
		return status;
	DIR *dir = opendir(directory);
	if (!dir)
		status = error_set_errno(err, TALLY_IO, errno, "cannot read the simulator's directory '%s'", directory);
	const struct dirent *entry;
	while (status == TALLY_OK && (entry = file_next_entry(dir))) {
		uint32_t pid, image;
		if (simulation_file_name(entry->d_name, &pid, &image))
			status = simulation_streams_add_file(streams, directory, entry->d_name, diag, err);
	}
	if (status == TALLY_OK && errno != 0)
		status = error_set_errno(err, TALLY_IO, errno, "cannot read the simulator's directory '%s'", directory);
	if (dir)
		closedir(dir);
	if (status == TALLY_OK)
		status = simulation_streams_place(streams, err);
	if (status != TALLY_OK) {
		simulation_streams_destroy(streams);
		return status;
	}
	*out = streams;
	return TALLY_OK;
}

const struct sim_header *simulation_streams_header(const struct simulation_streams *streams)
{
	return &streams->images.items[streams->first].header;
}

const char *simulation_streams_model(const struct simulation_streams *streams)
{
	return streams->images.items[streams->first].model.data;
}

static void simulation_streams_note_lost(struct simulation_stream *image, const struct record *record)
{
	struct sim_lost lost;
	if (record->bytes.len < sizeof(lost))
		return;
	memcpy(&lost, record->bytes.data, sizeof(lost));
	image->lost_records = lost.records;
	image->lost_samples = lost.samples;
}

/* Returns whether the record belongs into a recording; invalid ones are counted. */
static bool simulation_streams_takes(
	struct simulation_streams *streams, struct simulation_stream *image, const struct record *record)
{
	struct record_fields fields;
	struct sample sample;
	bool is_sound = false;
	switch (record->type) {
	case SIM_RECORD_COUNTS:
		return false;
	case SIM_RECORD_LOST:
		simulation_streams_note_lost(image, record);
		return false;
	case RECORD_SAMPLE:
		is_sound = sample_decode(&streams->layout, record, &sample, NULL) == TALLY_OK &&
			   sample.id - 1 < simulation_streams_header(streams)->sampled_count;
		break;
	case RECORD_COMM:
	case RECORD_MMAP2:
	case RECORD_FORK:
	case RECORD_EXIT:
		is_sound = record_decode(record, &fields, NULL) == TALLY_OK &&
			   fields.trailer_area.len >= streams->layout.trailer_bytes;
		break;
	default:
		break;
	}
	streams->totals.damaged += !is_sound;
	streams->totals.samples += is_sound && record->type == RECORD_SAMPLE;
	return is_sound;
}

/* Copies the record, with global time and identifier. */
static struct record simulation_streams_adapt(
	struct simulation_streams *streams, const struct record *record, uint64_t time)
{
	const struct record_layout *layout = &streams->layout;
	struct record adapted = *record;
	uint8_t *room = streams->room;
	size_t len = record->bytes.len;
	const uint64_t identifier = 1;
	memcpy(room, record->bytes.data, len);
	adapted.bytes.data = room;
	if (record->type == RECORD_SAMPLE) {
		adapted.misc = MISC_CPUMODE_USER;
		memcpy(room + 4, &adapted.misc, sizeof(adapted.misc));
		memcpy(room + layout->time, &time, sizeof(time));
		return adapted;
	}
	memcpy(room + len - layout->trailer_time, &time, sizeof(time));
	memcpy(room + len - layout->trailer_identifier, &identifier, sizeof(identifier));
	if (record->type == RECORD_FORK || record->type == RECORD_EXIT)
		memcpy(room + RECORD_TASK_TIME, &time, sizeof(time));
	return adapted;
}

enum tally_status simulation_streams_next(
	struct simulation_streams *streams, struct record *out, struct tally_error *err)
{
	while (streams->heap_len > 0) {
		struct simulation_stream *image = &streams->images.items[streams->heap[0]];
		struct record record;
		enum tally_status status = record_at(image->bytes, false, image->position, &record, err);
		if (status != TALLY_OK)
			return status;
		uint64_t time = image->time;
		bool is_taken = simulation_streams_takes(streams, image, &record);
		if (is_taken)
			*out = simulation_streams_adapt(streams, &record, time);
		image->position += record.bytes.len;
		if (!simulation_streams_look(image))
			streams->heap[0] = streams->heap[--streams->heap_len];
		simulation_streams_sink(streams, 0);
		if (is_taken)
			return TALLY_OK;
	}
	return TALLY_END;
}

struct simulation_stream_totals simulation_streams_totals(const struct simulation_streams *streams)
{
	struct simulation_stream_totals totals = streams->totals;
	for (size_t i = 0; i < streams->images.len; i++) {
		const struct simulation_stream *image = &streams->images.items[i];
		totals.lost_records = simulation_streams_sum(totals.lost_records, image->lost_records);
		totals.lost_samples = simulation_streams_sum(totals.lost_samples, image->lost_samples);
	}
	return totals;
}

uint64_t simulation_streams_bytes(const struct simulation_streams *streams)
{
	return streams->bytes;
}

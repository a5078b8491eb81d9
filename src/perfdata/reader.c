/* SPDX-License-Identifier: Apache-2.0 */
#include "perfdata/reader.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/error.h"
#include "base/limits.h"
#include "perfdata/end_mark.h"
#include "perfdata/reader_describe.h"
#include "perfdata/reader_header.h"
#include "perfdata/reader_state.h"
#include "perfdata/reader_window.h"

#define RECORD_SIZE_OFFSET	6 /* Offset in the header of a record. */
#define HEADER_DATA_SIZE_OFFSET 48 /* Offset in the header of a file. */
#define STREAM_READ_BYTES	((size_t)1 << 18) /* Size of a read: four full pipes. */

/* Reads until `end` bytes of the stream are present or the stream has ended. */
static enum tally_status reader_fill(struct perfdata_reader *r, size_t end, struct tally_error *err)
{
	enum tally_status status = TALLY_OK;
	while (r->fd >= 0 && r->stream.len < end && status == TALLY_OK) {
		size_t len = 0;
		uint8_t *room = spool_reserve(&r->stream, STREAM_READ_BYTES);
		if (room)
			status = file_read_some(r->fd, room, STREAM_READ_BYTES, &len, err);
		else
			status =
				error_set(err, TALLY_LIMIT, "the stream exceeds the limit of %zu bytes", r->stream.len);
		spool_commit(&r->stream, len);
		if (len == 0)
			r->fd = -1;
		r->bytes = spool_view(&r->stream);
	}
	return status;
}

/* Reads the next `bytes` bytes of the stream: a record and the data that follows it. */
static enum tally_status fill_stream(struct perfdata_reader *r, size_t bytes, struct tally_error *err)
{
	if (r->fd < 0)
		return TALLY_OK;
	enum tally_status status = reader_fill(r, bytes < SIZE_MAX - r->position ? r->position + bytes : SIZE_MAX, err);
	r->data_end = r->bytes.len;
	return status;
}

static enum tally_status reader_open_bytes(struct perfdata_reader *r, struct tally_error *err)
{
	struct cursor c = cursor_make(r->bytes, false);
	uint64_t magic = cursor_u64(&c);
	if (c.failed)
		return error_set(err, TALLY_CORRUPT, "not a perf.data file: only %zu bytes", r->bytes.len);
	bool is_v1 = magic == PERFDATA_MAGIC1 || magic == __builtin_bswap64(PERFDATA_MAGIC1);
	r->swap = magic == __builtin_bswap64(PERFDATA_MAGIC2) || magic == __builtin_bswap64(PERFDATA_MAGIC1);
	if (!is_v1 && magic != PERFDATA_MAGIC2 && magic != __builtin_bswap64(PERFDATA_MAGIC2))
		return error_set_at(err, TALLY_CORRUPT, 0, "not a perf.data file: it does not start with PERFILE2");
	c.swap = r->swap;
	uint64_t header_size = cursor_u64(&c);
	if (c.failed)
		return error_set_at(err, TALLY_CORRUPT, r->bytes.len, "the file ends inside its header");
	r->is_pipe = header_size == PERFDATA_PIPE_HEADER_BYTES;
	if (!r->is_pipe) {
		/* The sections that describe the data are at the end of the file. */
		enum tally_status status = reader_fill(r, SIZE_MAX, err);
		return status == TALLY_OK ? reader_open_file(r, is_v1, err) : status;
	}
	r->data_offset = PERFDATA_PIPE_HEADER_BYTES;
	r->data_end = r->bytes.len;
	return TALLY_OK;
}

/* Number of files that the recorder wrote and that are missing or truncated here. */
static uint64_t missing_parts(const struct directory_parts *parts, const struct end_mark *mark)
{
	size_t have = parts->count - 1;
	uint64_t missing = 0;
	if (mark->part_count == 0) /* If the mark lists no files, only gaps in their numbers reveal missing ones. */
		return have ? (uint64_t)parts->numbers[have - 1] + 1 - have : 0;
	for (size_t i = 0, at = 0; i < mark->part_count; i++) {
		while (at < have && parts->numbers[at] < i)
			at++;
		bool is_here = at < have && parts->numbers[at] == i;
		size_t bytes = is_here ? parts->ends[at + 1] - parts->ends[at] : 0;
		missing += !is_here || bytes < end_mark_part_bytes(mark, i);
	}
	return missing;
}

static enum tally_status reader_finish_open(
	struct perfdata_reader *r, struct perfdata_reader **reader, struct tally_error *err)
{
	enum tally_status status = reader_open_bytes(r, err);
	if (status != TALLY_OK) {
		perfdata_reader_destroy(r);
		return status;
	}
	r->health.attr_excess_bytes = r->events.attr_excess_bytes;
	r->position = r->data_offset;
	r->first_end = r->data_end;
	r->is_followed = r->fd >= 0;
	if (!r->is_followed && !r->is_beginning) {
		/* The recording, or the first file of a directory, is completely in memory, so its end says whether the
		 * recorder finished. */
		size_t end = r->parts.count ? r->first_end : r->data_end;
		struct end_mark mark =
			end_mark_find((struct tally_bytes){r->bytes.data + r->data_offset, end - r->data_offset},
				r->swap, r->is_pipe);
		if (mark.state == END_MISSING)
			r->health.is_unfinished = true;
		if (r->parts.count)
			r->health.missing_parts = missing_parts(&r->parts, &mark);
	}
	*reader = r;
	return TALLY_OK;
}

static struct perfdata_reader *new_reader(void)
{
	struct perfdata_reader *r = calloc(1, sizeof(*r));
	if (r) {
		arena_init(&r->arena);
		event_set_init(&r->events);
		spool_init(&r->stream);
		r->fd = -1;
	}
	return r;
}

enum tally_status perfdata_reader_open_bytes(
	struct tally_bytes bytes, struct perfdata_reader **reader, struct tally_error *err)
{
	struct perfdata_reader *r = new_reader();
	if (!r)
		return error_nomem(err);
	r->bytes = bytes;
	return reader_finish_open(r, reader, err);
}

enum tally_status perfdata_reader_open_beginning(
	struct tally_bytes bytes, struct perfdata_reader **reader, struct tally_error *err)
{
	struct perfdata_reader *r = new_reader();
	if (!r)
		return error_nomem(err);
	r->bytes = bytes;
	r->is_beginning = true;
	return reader_finish_open(r, reader, err);
}

enum tally_status perfdata_reader_open_fd(int fd, struct perfdata_reader **reader, struct tally_error *err)
{
	struct perfdata_reader *r = new_reader();
	if (!r)
		return error_nomem(err);
	r->fd = fd;
	r->map.mtime_ns = file_modified_ns(fd);
	enum tally_status status = reader_fill(r, PERFDATA_PIPE_HEADER_BYTES, err);
	if (status != TALLY_OK) {
		perfdata_reader_destroy(r);
		return status;
	}
	return reader_finish_open(r, reader, err);
}

enum tally_status perfdata_reader_open(const char *path, struct perfdata_reader **reader, struct tally_error *err)
{
	if (strcmp(path, "-") == 0)
		return perfdata_reader_open_fd(STDIN_FILENO, reader, err);
	struct perfdata_reader *r = new_reader();
	if (!r)
		return error_nomem(err);
	if (directory_is(path)) {
		enum tally_status read = directory_read(path, &r->parts, err);
		if (read != TALLY_OK) {
			perfdata_reader_destroy(r);
			return read;
		}
		r->bytes = (struct tally_bytes){spool_view(&r->parts.bytes).data, r->parts.ends[0]};
		return reader_finish_open(r, reader, err);
	}
	enum tally_status status = file_map_open_kept(path, &r->map, err);
	if (status != TALLY_OK) {
		perfdata_reader_destroy(r);
		return status;
	}
	r->bytes = r->map.bytes;
	return reader_finish_open(r, reader, err);
}

void perfdata_reader_destroy(struct perfdata_reader *r)
{
	if (!r)
		return;
	decompressor_destroy(r->decompressor);
	event_set_deinit(&r->events);
	arena_deinit(&r->arena);
	file_map_close(&r->map);
	spool_deinit(&r->stream);
	directory_parts_deinit(&r->parts);
	free(r);
}

static enum tally_status next_unpacked(struct perfdata_reader *r, struct record *record)
{
	if (r->unpacked_position >= r->unpacked.len)
		return TALLY_END;
	enum tally_status status = record_at(r->unpacked, r->swap, r->unpacked_position, record, NULL);
	if (status == TALLY_OK)
		r->unpacked_position += record->bytes.len;
	return status;
}

static enum tally_status reader_unpack(struct perfdata_reader *r, const struct record *record, struct tally_error *err)
{
	struct record_fields fields;
	enum tally_status status = record_decode(record, &fields, err);
	if (status != TALLY_OK)
		return status;
	if (!r->decompressor) {
		status = decompressor_create(&r->decompressor, err);
		if (status != TALLY_OK)
			return status;
		if (r->is_passing)
			decompressor_pass(r->decompressor);
	}
	status = decompressor_records(r->decompressor, fields.compressed.payload, r->swap, &r->unpacked, err);
	if (status == TALLY_OK)
		r->unpacked_position = 0;
	else if (status == TALLY_CORRUPT)
		error_set_at(err, TALLY_CORRUPT, record->offset, "a compressed record cannot be decompressed");
	else if (status == TALLY_LIMIT)
		error_prefix(err, "a compressed record at offset 0x%llx", (unsigned long long)record->offset);
	return status;
}

static void reader_count(struct perfdata_reader *r, struct record *record)
{
	record->position = r->handed_bytes;
	if (r->payload.len == 0)
		r->handed_bytes += record->bytes.len;
	if (r->is_described)
		return; /* They were counted in the first pass. */
	r->health.records++;
	r->health.bytes += record->bytes.len;
	if (record->type == RECORD_SAMPLE)
		r->health.samples++;
	else if (record->type == RECORD_STAT)
		r->health.counts++;
	else if (!record_type_name(record->type))
		r->health.unknown_records++;
}

static enum tally_status end_cut(struct perfdata_reader *r, uint64_t offset)
{
	r->ended = true;
	r->health.is_cut = true;
	r->health.cut_offset = offset;
	struct cursor c = cursor_make(r->bytes, r->swap);
	cursor_skip(&c, (size_t)offset + RECORD_SIZE_OFFSET);
	uint16_t size = cursor_u16(&c);
	r->health.cut_record_bytes = c.failed ? UINT32_MAX : size;
	return TALLY_CORRUPT;
}

/* Called at the end of the last complete record. */
static enum tally_status end_stream(struct perfdata_reader *r, struct tally_error *err)
{
	r->ended = true;
	if (r->is_followed && r->followed.state == END_MISSING)
		r->health.is_unfinished = true;
	/* The header promises more data than the file contains. */
	if (r->health.is_cut && r->data_end == r->bytes.len && r->health.cut_offset == r->bytes.len)
		return error_set_at(err, TALLY_CORRUPT, r->bytes.len, "the file is cut: its header promises more data");
	if (r->decompressor && decompressor_rest(r->decompressor) > 0) {
		error_set_at(err, TALLY_CORRUPT, r->position, "the last compressed record is incomplete");
		return end_cut(r, r->position);
	}
	return TALLY_END;
}

static enum tally_status next_of_part(struct perfdata_reader *r, struct record *record, struct tally_error *err)
{
	if (r->gap_bytes && r->position == r->gap_offset)
		r->position += r->gap_bytes;
	enum tally_status status = fill_stream(r, UINT16_MAX, err);
	if (status == TALLY_OK)
		status = record_at((struct tally_bytes){r->bytes.data, r->data_end}, r->swap, r->position, record, err);
	if (status == TALLY_END)
		return end_stream(r, err);
	if (status != TALLY_OK) {
		(void)end_cut(r, r->position);
		return status;
	}
	uint64_t payload = perfdata_payload_bytes(record, r->is_pipe);
	if (payload > 0)
		status = fill_stream(r, record->bytes.len + (size_t)payload, err);
	size_t next = r->position + record->bytes.len;
	if (status != TALLY_OK) {
		(void)end_cut(r, r->position);
		return status;
	}
	if (payload > r->data_end - next) {
		error_set_at(err, TALLY_CORRUPT, record->offset, "the payload of a record reaches beyond the data");
		return end_cut(r, r->position);
	}
	r->payload = (struct tally_bytes){r->bytes.data + next, (size_t)payload};
	r->position = next + (size_t)payload;
	if (r->is_followed && !r->is_described)
		end_mark_follow(&r->followed, record);
	return reader_describe(r, record, r->payload, err);
}

/* Returns the next record as it is stored, possibly compressed. After a truncated file of a directory, the next file is
 * read nevertheless. */
static enum tally_status next_stored(struct perfdata_reader *r, struct record *record, struct tally_error *err)
{
	for (;;) {
		enum tally_status status = next_of_part(r, record, err);
		if (status != TALLY_END && status != TALLY_CORRUPT)
			return status;
		if (r->part + 1 >= r->parts.count) {
			if (status == TALLY_END && r->was_part_cut)
				return error_set_at(
					err, TALLY_CORRUPT, r->health.cut_offset, "a file of the directory is cut");
			return status;
		}
		r->was_part_cut |= status == TALLY_CORRUPT;
		if (r->decompressor) /* Each file is a compressed stream of its own. */
			decompressor_restart(r->decompressor);
		r->position = r->parts.ends[r->part++];
		r->data_end = r->parts.ends[r->part];
		r->ended = false;
	}
}

enum tally_status perfdata_reader_next(struct perfdata_reader *r, struct record *record, struct tally_error *err)
{
	reader_window_pass(r, r->position);
	for (;;) {
		if (next_unpacked(r, record) == TALLY_OK) {
			r->payload = (struct tally_bytes){NULL, 0};
			reader_count(r, record);
			return TALLY_OK;
		}
		if (r->ended)
			return TALLY_END;
		struct record stored;
		enum tally_status status = next_stored(r, &stored, err);
		if (status != TALLY_OK)
			return status;
		if (stored.type == RECORD_COMPRESSED || stored.type == RECORD_COMPRESSED2) {
			r->has_compressed = true;
			status = reader_unpack(r, &stored, err);
			if (status == TALLY_CORRUPT || status == TALLY_LIMIT)
				(void)end_cut(r, stored.offset);
			if (status != TALLY_OK)
				return status;
			if (!r->is_described)
				r->health.compressed[stored.type == RECORD_COMPRESSED2]++;
			continue;
		}
		*record = stored;
		reader_count(r, record);
		return TALLY_OK;
	}
}

struct tally_bytes perfdata_reader_payload(const struct perfdata_reader *r)
{
	return r->payload;
}

struct perfdata_mark perfdata_reader_mark(const struct perfdata_reader *r)
{
	struct perfdata_mark mark = {.stream = r->position};
	/* The rest of the last compressed record precedes the next stored record. */
	if (r->decompressor)
		mark.unpacked = decompressor_position(r->decompressor) - (r->unpacked.len - r->unpacked_position);
	return mark;
}

void perfdata_reader_pass(struct perfdata_reader *r)
{
	if (!r->is_pipe)
		return;
	r->is_passing = true;
	spool_pass(&r->stream);
}

void perfdata_reader_forget(struct perfdata_reader *r, struct perfdata_mark mark)
{
	if (!r->is_passing)
		return;
	spool_forget(&r->stream, mark.stream);
	if (r->decompressor)
		decompressor_forget(r->decompressor, mark.unpacked);
}

void perfdata_reader_rewind(struct perfdata_reader *r)
{
	/* After a complete pass, all descriptions in the stream are known. */
	r->is_described = r->is_described || r->ended;
	decompressor_destroy(r->decompressor);
	r->decompressor = NULL;
	r->unpacked = (struct tally_bytes){NULL, 0};
	r->unpacked_position = 0;
	if (r->parts.count)
		r->data_end = r->first_end;
	r->part = 0;
	r->was_part_cut = false;
	r->position = r->data_offset;
	r->handed_bytes = 0;
	r->ended = false;
}

bool perfdata_reader_is_pipe(const struct perfdata_reader *r)
{
	return r->is_pipe;
}

bool perfdata_reader_is_stream(const struct perfdata_reader *r)
{
	return r->is_pipe && r->stream.base;
}

bool perfdata_reader_is_swapped(const struct perfdata_reader *r)
{
	return r->swap;
}

const struct perfdata_event *perfdata_reader_events(const struct perfdata_reader *r, size_t *event_count)
{
	*event_count = r->events.events.len;
	return r->events.events.items;
}

bool perfdata_reader_has_tracepoints(const struct perfdata_reader *r)
{
	for (size_t i = 0; i < r->events.events.len; i++)
		if (r->events.events.items[i].attr.type == EVENT_TRACEPOINT)
			return true;
	return false;
}

bool perfdata_reader_has_samples_with(const struct perfdata_reader *r, uint64_t sample_type)
{
	for (size_t i = 0; i < r->events.events.len; i++)
		if (perfdata_event_has(&r->events.events.items[i], sample_type))
			return true;
	return false;
}

const struct perfdata_features *perfdata_reader_features(const struct perfdata_reader *r)
{
	return &r->features;
}

const struct input_health *perfdata_reader_health(const struct perfdata_reader *r)
{
	return &r->health;
}

uint64_t perfdata_reader_bytes(const struct perfdata_reader *r)
{
	return r->bytes.len;
}

uint64_t perfdata_reader_stated_data_size(const struct perfdata_reader *r)
{
	struct cursor c = cursor_make(r->bytes, r->swap);
	cursor_skip(&c, HEADER_DATA_SIZE_OFFSET);
	return cursor_u64(&c);
}

struct perfdata_layout perfdata_reader_layout(const struct perfdata_reader *r)
{
	if (r->is_pipe)
		return (struct perfdata_layout){.mtime_ns = r->map.mtime_ns};
	struct cursor c = cursor_make(r->bytes, r->swap);
	return (struct perfdata_layout){
		.is_v1 = cursor_u64(&c) == PERFDATA_MAGIC1,
		.data_offset = r->data_offset,
		.data_size = (r->parts.count ? r->first_end : r->data_end) - r->data_offset,
		.feature_offset = r->feature_offset ? r->feature_offset : r->data_end,
		.mtime_ns = r->parts.count ? r->parts.mtime_ns : r->map.mtime_ns,
	};
}

struct tally_bytes perfdata_reader_data(const struct perfdata_reader *r, uint64_t *data_offset)
{
	bool is_partial = r->is_pipe && !r->is_described;
	if (is_partial || r->is_passing || r->has_compressed || r->gap_bytes || r->parts.count > 1)
		return (struct tally_bytes){NULL, 0};
	*data_offset = r->data_offset;
	return (struct tally_bytes){r->bytes.data + r->data_offset, r->data_end - r->data_offset};
}

void perfdata_reader_expect(const struct perfdata_reader *r, struct tally_bytes part)
{
	file_map_expect(&r->map, part);
}

void perfdata_reader_drop(const struct perfdata_reader *r, struct tally_bytes part)
{
	reader_window_drop(r, part);
}

struct tally_bytes perfdata_reader_view(const struct perfdata_reader *r, struct tally_bytes part, uint8_t *room)
{
	return file_map_view(&r->map, part, room);
}

const struct perfdata_event *perfdata_reader_event_of(const struct perfdata_reader *r, const struct record *record)
{
	return event_set_of(&r->events, record);
}

size_t perfdata_reader_id_offset(const struct perfdata_reader *r)
{
	return r->events.sample_id_offset > 0 ? (size_t)r->events.sample_id_offset : 0;
}

const struct perfdata_event *perfdata_reader_event_by_id(const struct perfdata_reader *r, uint64_t id)
{
	return event_set_by_id(&r->events, id);
}

/* NULL if the record has no trailer. */
static const struct record_layout *trailer_layout(const struct perfdata_reader *r, const struct record *record)
{
	const struct perfdata_event *event = event_set_of(&r->events, record);
	return event && event->layout.sample_id_all && record->type < RECORD_HEADER_ATTR ? &event->layout : NULL;
}

bool perfdata_reader_sample_id(const struct perfdata_reader *r, const struct record *record, struct sample_id *id)
{
	const struct record_layout *layout = trailer_layout(r, record);
	return layout && sample_id_decode(layout, record, id, NULL) == TALLY_OK;
}

bool perfdata_reader_time(const struct perfdata_reader *r, const struct record *record, uint64_t *time_ns)
{
	const struct record_layout *layout = trailer_layout(r, record);
	return layout && sample_id_time(layout, record, time_ns);
}

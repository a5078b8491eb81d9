#include "perfdata/reader.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/error.h"
#include "base/file.h"
#include "base/limits.h"
#include "perfdata/compression.h"
#include "perfdata/directory.h"
#include "perfdata/event_set.h"
#include "perfdata/feature_table.h"

#define LIMIT_PIPE_BYTES (SIZE_MAX / 2) /* a pipe is held whole: what the machine's memory takes */

struct perfdata_reader {
	struct file_map map;
	char *pipe_copy;
	struct directory_parts parts; /* of a recording that is a directory */
	size_t part; /* which of them is read */
	bool was_part_cut;
	size_t first_end; /* data_end of the first part */
	struct tally_bytes bytes; /* the whole file or stream; of a directory, the first part */
	bool is_pipe;
	bool swap;
	bool has_compressed;
	size_t data_offset, data_end; /* of the record stream, or of the part that is read */
	size_t feature_offset; /* of the table; 0: none was read */
	size_t gap_offset, gap_bytes; /* that table, where records follow it */
	bool has_features_in_front; /* of the data: a recording of ours */
	size_t position; /* next record */
	struct tally_bytes payload; /* of the last record */
	bool ended;
	bool is_described; /* the whole stream was read once: its descriptions are known */
	struct decompressor *decompressor;
	struct tally_bytes unpacked; /* records out of the last COMPRESSED */
	size_t unpacked_position;
	struct arena arena;
	struct event_set events;
	struct perfdata_features features;
	struct input_health health;
};

struct section {
	uint64_t offset, size;
};

static struct section read_section(struct cursor *c)
{
	struct section s;
	s.offset = cursor_u64(c);
	s.size = cursor_u64(c);
	return s;
}

static struct tally_bytes section_bytes(const struct perfdata_reader *r, struct section s)
{
	if (s.offset > r->bytes.len || s.size > r->bytes.len - s.offset)
		return (struct tally_bytes){NULL, 0};
	return (struct tally_bytes){r->bytes.data + s.offset, (size_t)s.size};
}

static enum tally_status read_attrs(
	struct perfdata_reader *r, struct section attrs, uint64_t entry_size, struct tally_error *err)
{
	struct tally_bytes bytes = section_bytes(r, attrs);
	if (!bytes.data && attrs.size > 0)
		return error_set_at(
			err, TALLY_CORRUPT, attrs.offset, "the event attributes reach beyond the file's end");
	if (entry_size < ATTR_SIZE_VER0 + 16 || entry_size > UINT16_MAX + 16u)
		return error_set_at(
			err, TALLY_CORRUPT, 16, "event attributes of %llu bytes each", (unsigned long long)entry_size);
	struct cursor c = cursor_make(bytes, r->swap);
	while (cursor_left(&c) >= entry_size) {
		struct perf_attr attr;
		struct tally_bytes stored = {bytes.data + c.pos, (size_t)entry_size - 16};
		enum tally_status status = attr_decode_sized(&c, stored.len, &attr, err);
		if (status != TALLY_OK)
			return status;
		struct section ids_section = read_section(&c);
		struct tally_bytes ids = section_bytes(r, ids_section);
		if (!ids.data && ids_section.size > 0)
			r->health.damaged_features++; /* the event stays, its samples cannot be told from others' */
		status = event_set_add(&r->events, &attr, stored, ids, r->swap, err);
		if (status != TALLY_OK)
			return status;
	}
	return TALLY_OK;
}

/* The bit set is of longs: in a foreign file of 32-bit longs the halves stand the other way round. */
static void read_feature_bits(struct perfdata_reader *r, struct cursor *c)
{
	for (size_t i = 0; i < 4; i++)
		r->features.present[i] = cursor_u64(c);
	if (!r->swap || feature_is_present(&r->features, FEATURE_HOSTNAME))
		return;
	uint64_t halves = r->features.present[0] >> 32 | r->features.present[0] << 32;
	if (halves >> FEATURE_HOSTNAME & 1)
		for (size_t i = 0; i < 4; i++)
			r->features.present[i] = r->features.present[i] >> 32 | r->features.present[i] << 32;
}

static bool has_features(const struct perfdata_reader *r)
{
	return (r->features.present[0] | r->features.present[1] | r->features.present[2] | r->features.present[3]) != 0;
}

static size_t feature_table_bytes(const struct perfdata_reader *r)
{
	size_t count = 0;
	for (unsigned bit = 0; bit < 256; bit++)
		count += feature_is_present(&r->features, bit);
	return count * 16;
}

/* A table that tally's writer left behind: the body of a round's end, whose header lies over the first offset. */
static bool is_wrapped_table(const struct perfdata_reader *r, size_t offset)
{
	struct record record;
	return record_at(r->bytes, r->swap, offset, &record, NULL) == TALLY_OK &&
	       record.type == RECORD_FINISHED_ROUND && record.bytes.len > RECORD_HEADER_BYTES &&
	       record.bytes.len == feature_table_bytes(r);
}

static struct section read_first_section(struct perfdata_reader *r, struct cursor *c, bool is_wrapped)
{
	struct section section = read_section(c);
	struct cursor ahead = *c;
	if (is_wrapped) /* such a writer's sections lie one behind the other */
		section.offset = read_section(&ahead).offset - section.size;
	return section;
}

/* The feature sections' table lies behind the data, one entry a set bit, in order of the bits. */
static enum tally_status read_features(struct perfdata_reader *r, size_t table_offset, struct tally_error *err)
{
	if (table_offset > r->bytes.len)
		return TALLY_OK;
	struct cursor c =
		cursor_make((struct tally_bytes){r->bytes.data + table_offset, r->bytes.len - table_offset}, r->swap);
	bool is_wrapped = is_wrapped_table(r, table_offset);
	bool is_first = true;
	r->has_features_in_front = has_features(r);
	/* CPU topology needs the number of CPUs, whose section comes before it: the order of the bits suffices. */
	for (unsigned bit = 0; bit < 256; bit++) {
		if (!feature_is_present(&r->features, bit))
			continue;
		struct section section = is_first ? read_first_section(r, &c, is_wrapped) : read_section(&c);
		struct tally_bytes bytes = section_bytes(r, section);
		is_first = false;
		r->has_features_in_front &= section.offset < r->data_offset;
		if (c.failed || !bytes.data) {
			r->features.present[bit / 64] &= ~(UINT64_C(1) << bit % 64);
			r->health.damaged_features++;
			continue;
		}
		if (!feature_name(bit)) /* kept as bytes */
			r->health.unknown_features++;
		struct feature_input input = {
			.section = bytes, .swap = r->swap, .arena = &r->arena, .features = &r->features};
		enum tally_status status = feature_decode(bit, &input, err);
		if (status != TALLY_OK)
			return status;
	}
	r->health.damaged_features += r->features.damaged;
	return TALLY_OK;
}

/* A writer tells the size now and then: behind it lie whole records that it had no time to tell of. */
static void take_what_a_killed_writer_left(struct perfdata_reader *r)
{
	struct record record;
	while (record_at(r->bytes, r->swap, r->data_end, &record, NULL) == TALLY_OK && record_type_name(record.type))
		r->data_end += record.bytes.len;
}

/* Such records lie behind the table of features where the features lie in front of the data (see writer.h). */
static void take_what_follows_the_table(struct perfdata_reader *r, size_t table_bytes)
{
	size_t table = r->data_end;
	if (!r->has_features_in_front || table_bytes >= r->bytes.len - table)
		return;
	r->data_end += table_bytes;
	take_what_a_killed_writer_left(r);
	if (r->data_end > table + table_bytes) {
		r->gap_offset = table;
		r->gap_bytes = table_bytes;
	} else {
		r->data_end = table;
	}
}

/* In a file that is cut, the last table among the records that are there. */
static enum tally_status read_features_of_cut_file(struct perfdata_reader *r, struct tally_error *err)
{
	struct record record;
	size_t found = 0;
	for (size_t at = r->data_offset; record_at(r->bytes, r->swap, at, &record, NULL) == TALLY_OK;
		at += record.bytes.len)
		if (is_wrapped_table(r, at))
			found = at;
	if (found)
		return read_features(r, found, err);
	memset(r->features.present, 0, sizeof(r->features.present));
	return TALLY_OK;
}

/* Said by the header, and where a writer had no time to say it, by the records. */
static bool has_compressed_records(const struct perfdata_reader *r)
{
	struct tally_bytes data = {r->bytes.data, r->data_end};
	struct record record;
	size_t position = r->data_offset;
	while (record_at(data, r->swap, position, &record, NULL) == TALLY_OK) {
		if (record.type == RECORD_COMPRESSED || record.type == RECORD_COMPRESSED2)
			return true;
		position += record.bytes.len;
	}
	return false;
}

static enum tally_status open_file(struct perfdata_reader *r, bool is_v1, struct tally_error *err)
{
	struct cursor c = cursor_make(r->bytes, r->swap);
	cursor_skip(&c, 16); /* magic and size */
	uint64_t attr_size = cursor_u64(&c);
	struct section attrs = read_section(&c);
	struct section data = read_section(&c);
	(void)read_section(&c); /* event types: unused since 2011 */
	size_t header_size = is_v1 ? 72 : PERFDATA_HEADER_BYTES;
	if (!is_v1 || cursor_left(&c) >= 32)
		read_feature_bits(r, &c);
	if (r->bytes.len < header_size || c.failed)
		return error_set_at(err, TALLY_CORRUPT, r->bytes.len, "the file ends inside its header");
	r->has_compressed = feature_is_present(&r->features, FEATURE_COMPRESSED);
	bool is_silent = !has_features(r);
	enum tally_status status = read_attrs(r, attrs, attr_size, err);
	if (status != TALLY_OK)
		return status;
	if (data.offset > r->bytes.len)
		return error_set_at(err, TALLY_CORRUPT, data.offset, "the data section starts beyond the file's end");
	r->data_offset = (size_t)data.offset;
	uint64_t available = r->bytes.len - data.offset;
	bool was_killed = data.size == 0 && available > 0;
	if (was_killed || data.size > available) {
		/* Killed before it could say where the data ends, or cut: all that is there counts. */
		r->data_end = r->bytes.len;
		if (!was_killed) {
			r->health.is_cut = true;
			r->health.cut_offset = r->bytes.len;
		}
		if (is_silent)
			r->has_compressed = has_compressed_records(r);
		status = read_features_of_cut_file(r, err);
		return status == TALLY_OK ? event_set_apply_features(&r->events, &r->features, err) : status;
	}
	r->data_end = (size_t)(data.offset + data.size);
	if (is_silent) {
		take_what_a_killed_writer_left(r);
		r->has_compressed = has_compressed_records(r);
	}
	r->feature_offset = r->data_end;
	size_t table_bytes = feature_table_bytes(r);
	status = read_features(r, r->data_end, err);
	if (status == TALLY_OK)
		take_what_follows_the_table(r, table_bytes);
	return status == TALLY_OK ? event_set_apply_features(&r->events, &r->features, err) : status;
}

static enum tally_status open_bytes(struct perfdata_reader *r, struct tally_error *err)
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
	if (!r->is_pipe)
		return open_file(r, is_v1, err);
	r->data_offset = PERFDATA_PIPE_HEADER_BYTES;
	r->data_end = r->bytes.len;
	return TALLY_OK;
}

static enum tally_status finish_open(
	struct perfdata_reader *r, struct perfdata_reader **reader, struct tally_error *err)
{
	enum tally_status status = open_bytes(r, err);
	if (status != TALLY_OK) {
		perfdata_reader_destroy(r);
		return status;
	}
	r->health.attr_excess_bytes = r->events.attr_excess_bytes;
	r->position = r->data_offset;
	r->first_end = r->data_end;
	*reader = r;
	return TALLY_OK;
}

static struct perfdata_reader *new_reader(void)
{
	struct perfdata_reader *r = calloc(1, sizeof(*r));
	if (r) {
		arena_init(&r->arena);
		event_set_init(&r->events);
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
	return finish_open(r, reader, err);
}

enum tally_status perfdata_reader_open_fd(int fd, struct perfdata_reader **reader, struct tally_error *err)
{
	struct perfdata_reader *r = new_reader();
	if (!r)
		return error_nomem(err);
	enum tally_status status = file_read_fd(fd, LIMIT_PIPE_BYTES, &r->pipe_copy, &r->bytes.len, err);
	if (status != TALLY_OK) {
		perfdata_reader_destroy(r);
		return status;
	}
	r->bytes.data = (const uint8_t *)r->pipe_copy;
	return finish_open(r, reader, err);
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
		r->bytes = (struct tally_bytes){r->parts.bytes, r->parts.ends[0]};
		return finish_open(r, reader, err);
	}
	enum tally_status status = file_map_open(path, &r->map, err);
	if (status != TALLY_OK) {
		perfdata_reader_destroy(r);
		return status;
	}
	file_map_prefault(&r->map);
	r->bytes = r->map.bytes;
	return finish_open(r, reader, err);
}

void perfdata_reader_destroy(struct perfdata_reader *r)
{
	if (!r)
		return;
	decompressor_destroy(r->decompressor);
	event_set_deinit(&r->events);
	arena_deinit(&r->arena);
	file_map_close(&r->map);
	free(r->pipe_copy);
	directory_parts_deinit(&r->parts);
	free(r);
}

/* Bytes that follow a record in the stream without belonging to it. */
static uint64_t payload_bytes(const struct perfdata_reader *r, const struct record *record)
{
	struct record_fields fields;
	if (record->type == RECORD_AUXTRACE && record_decode(record, &fields, NULL) == TALLY_OK)
		return fields.auxtrace.size;
	if (r->is_pipe && record->type == RECORD_HEADER_TRACING_DATA &&
		record_decode(record, &fields, NULL) == TALLY_OK)
		return ((uint64_t)fields.tracing_data.size + 7) & ~UINT64_C(7);
	return 0;
}

static enum tally_status apply_attr_record(
	struct perfdata_reader *r, const struct record_fields *fields, struct tally_error *err)
{
	struct cursor c = cursor_make(fields->attr.attr_and_ids, r->swap);
	struct perf_attr attr;
	if (attr_decode(&c, &attr, NULL) != TALLY_OK) {
		r->health.damaged_records++;
		return TALLY_OK;
	}
	struct tally_bytes stored = {fields->attr.attr_and_ids.data, c.pos};
	struct tally_bytes ids = cursor_bytes(&c, cursor_left(&c) / 8 * 8);
	enum tally_status status = event_set_add(&r->events, &attr, stored, ids, r->swap, err);
	r->health.attr_excess_bytes = r->events.attr_excess_bytes;
	return status;
}

static enum tally_status apply_feature_record(
	struct perfdata_reader *r, const struct record_fields *fields, struct tally_error *err)
{
	uint64_t bit = fields->feature.feature;
	/* A feature that its writer does not know itself, without contents, ends the list: 32 in perf 6.8, 35 in 7.3. */
	bool is_end = fields->feature.payload.len == 0 && !feature_is_flag((unsigned)bit);
	if (bit >= FEATURE_BITS || is_end)
		return TALLY_OK;
	r->features.present[bit / 64] |= UINT64_C(1) << bit % 64;
	if (!feature_name((unsigned)bit))
		r->health.unknown_features++;
	struct feature_input input = {
		.section = fields->feature.payload, .swap = r->swap, .arena = &r->arena, .features = &r->features};
	uint64_t damaged = r->features.damaged;
	enum tally_status status = feature_decode((unsigned)bit, &input, err);
	r->health.damaged_features += r->features.damaged - damaged;
	/* Names of EVENT_DESC are for files: in a stream perf makes them from the attrs, and tools expect the same. */
	if (status == TALLY_OK && bit == FEATURE_GROUP_DESC)
		status = event_set_apply_features(&r->events, &r->features, err);
	return status;
}

/* What a stream says of itself on the way. */
static enum tally_status apply_description(
	struct perfdata_reader *r, const struct record *record, size_t payload_at, struct tally_error *err)
{
	struct record_fields fields;
	if (r->is_described || record->type < RECORD_HEADER_ATTR || record_decode(record, &fields, NULL) != TALLY_OK)
		return TALLY_OK;
	switch (record->type) {
	case RECORD_HEADER_ATTR:
		return r->is_pipe ? apply_attr_record(r, &fields, err) : TALLY_OK;
	case RECORD_HEADER_FEATURE:
		return r->is_pipe ? apply_feature_record(r, &fields, err) : TALLY_OK;
	case RECORD_HEADER_TRACING_DATA:
		if (r->is_pipe && fields.tracing_data.size <= r->data_end - payload_at) {
			r->features.tracing_data =
				(struct tally_bytes){r->bytes.data + payload_at, fields.tracing_data.size};
			r->features.present[0] |= UINT64_C(1) << FEATURE_TRACING_DATA;
		}
		return TALLY_OK;
	case RECORD_EVENT_UPDATE:
		if (fields.event_update.update_type != EVENT_UPDATE_NAME)
			return TALLY_OK;
		struct tally_bytes payload = fields.event_update.payload;
		struct tally_str name = {
			(const char *)payload.data, payload.len ? strnlen((const char *)payload.data, payload.len) : 0};
		return event_set_rename(&r->events, fields.event_update.id, name, err);
	default:
		return TALLY_OK;
	}
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

static enum tally_status unpack(struct perfdata_reader *r, const struct record *record, struct tally_error *err)
{
	struct record_fields fields;
	enum tally_status status = record_decode(record, &fields, err);
	if (status != TALLY_OK)
		return status;
	if (!r->decompressor) {
		status = decompressor_create(&r->decompressor, err);
		if (status != TALLY_OK)
			return status;
	}
	status = decompressor_records(r->decompressor, fields.compressed.payload, r->swap, &r->unpacked, err);
	if (status == TALLY_OK)
		r->unpacked_position = 0;
	else if (status == TALLY_CORRUPT)
		error_set_at(err, TALLY_CORRUPT, record->offset, "a compressed record does not unpack");
	else if (status == TALLY_LIMIT)
		error_prefix(err, "a compressed record at offset 0x%llx", (unsigned long long)record->offset);
	return status;
}

static void count(struct perfdata_reader *r, const struct record *record)
{
	if (r->is_described)
		return; /* counted the first time */
	r->health.records++;
	r->health.bytes += record->bytes.len;
	if (record->type == RECORD_SAMPLE)
		r->health.samples++;
	else if (!record_type_name(record->type))
		r->health.unknown_records++;
}

static enum tally_status end_cut(struct perfdata_reader *r, uint64_t offset)
{
	r->ended = true;
	r->health.is_cut = true;
	r->health.cut_offset = offset;
	return TALLY_CORRUPT;
}

static enum tally_status next_of_part(struct perfdata_reader *r, struct record *record, struct tally_error *err)
{
	struct tally_bytes stream = {r->bytes.data, r->data_end};
	if (r->gap_bytes && r->position == r->gap_offset)
		r->position += r->gap_bytes;
	enum tally_status status = record_at(stream, r->swap, r->position, record, err);
	if (status == TALLY_END) {
		r->ended = true;
		/* The header promised more than the file has. */
		if (r->health.is_cut && r->data_end == r->bytes.len && r->health.cut_offset == r->bytes.len)
			return error_set_at(
				err, TALLY_CORRUPT, r->bytes.len, "the file is cut: its header promises more data");
		if (r->decompressor && decompressor_rest(r->decompressor) > 0) {
			error_set_at(err, TALLY_CORRUPT, r->position, "the last compressed record has no end");
			return end_cut(r, r->position);
		}
		return TALLY_END;
	}
	if (status != TALLY_OK)
		return end_cut(r, r->position);
	size_t next = r->position + record->bytes.len;
	uint64_t payload = payload_bytes(r, record);
	if (payload > r->data_end - next) {
		error_set_at(err, TALLY_CORRUPT, record->offset, "the payload of a record reaches beyond the data");
		return end_cut(r, r->position);
	}
	r->payload = (struct tally_bytes){r->bytes.data + next, (size_t)payload};
	r->position = next + (size_t)payload;
	return apply_description(r, record, next, err);
}

static void open_part(struct perfdata_reader *r, size_t part)
{
	r->part = part;
	r->position = r->parts.ends[part - 1];
	r->data_end = r->parts.ends[part];
	r->ended = false;
}

/* The next record as it is stored, compressed ones included. A part that is cut does not keep the next from being read.
 */
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
		if (r->decompressor) /* each file has a stream of its own */
			decompressor_restart(r->decompressor);
		open_part(r, r->part + 1);
	}
}

enum tally_status perfdata_reader_next(struct perfdata_reader *r, struct record *record, struct tally_error *err)
{
	for (;;) {
		if (next_unpacked(r, record) == TALLY_OK) {
			r->payload = (struct tally_bytes){NULL, 0};
			count(r, record);
			return TALLY_OK;
		}
		if (r->ended)
			return TALLY_END;
		struct record stored;
		enum tally_status status = next_stored(r, &stored, err);
		if (status != TALLY_OK)
			return status;
		if (stored.type == RECORD_COMPRESSED || stored.type == RECORD_COMPRESSED2) {
			status = unpack(r, &stored, err);
			if (status == TALLY_CORRUPT || status == TALLY_LIMIT)
				(void)end_cut(r, stored.offset);
			if (status != TALLY_OK)
				return status;
			if (!r->is_described)
				r->health.compressed[stored.type == RECORD_COMPRESSED2]++;
			continue;
		}
		*record = stored;
		count(r, record);
		return TALLY_OK;
	}
}

struct tally_bytes perfdata_reader_payload(const struct perfdata_reader *r)
{
	return r->payload;
}

void perfdata_reader_rewind(struct perfdata_reader *r)
{
	/* What the stream says of itself is known by now. */
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
	r->ended = false;
}

bool perfdata_reader_is_pipe(const struct perfdata_reader *r)
{
	return r->is_pipe;
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

const struct perfdata_features *perfdata_reader_features(const struct perfdata_reader *r)
{
	return &r->features;
}

const struct input_health *perfdata_reader_health(const struct perfdata_reader *r)
{
	return &r->health;
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
		.mtime_ns = r->map.mtime_ns,
	};
}

struct tally_bytes perfdata_reader_data(const struct perfdata_reader *r, uint64_t *data_offset)
{
	if (r->is_pipe || r->has_compressed || r->gap_bytes || r->parts.count > 1)
		return (struct tally_bytes){NULL, 0};
	*data_offset = r->data_offset;
	return (struct tally_bytes){r->bytes.data + r->data_offset, r->data_end - r->data_offset};
}

const struct perfdata_event *perfdata_reader_event_of(const struct perfdata_reader *r, const struct record *record)
{
	return event_set_of(&r->events, record);
}

const struct perfdata_event *perfdata_reader_event_by_id(const struct perfdata_reader *r, uint64_t id)
{
	return event_set_by_id(&r->events, id);
}

bool perfdata_reader_sample_id(const struct perfdata_reader *r, const struct record *record, struct sample_id *id)
{
	const struct perfdata_event *event = event_set_of(&r->events, record);
	if (!event || !event->layout.sample_id_all || record->type >= RECORD_HEADER_ATTR)
		return false;
	return sample_id_decode(&event->layout, record, id, NULL) == TALLY_OK;
}

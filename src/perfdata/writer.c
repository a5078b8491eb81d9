/* SPDX-License-Identifier: Apache-2.0 */
#include "perfdata/writer.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "abi/encode.h"
#include "base/array.h"
#include "base/error.h"
#include "base/file.h"
#include "base/interrupts.h"
#include "base/vec.h"
#include "base/writer.h"
#include "perfdata/compressor.h"
#include "perfdata/end_mark.h"
#include "perfdata/feature_encode.h"
#include "perfdata/format.h"
#include "perfdata/old_recording.h"
#include "perfdata/origin.h"

/* Size of records that the header does not cover yet, from which on the end of a round updates it. */
#define PUBLISH_BYTES		(64u << 10)
#define WRITER_DATA_SIZE_OFFSET 48 /* Offset in the header; event types and feature bits follow. */
#define WRITER_SECTION_BYTES	16
#define SLICES_MAX		16

struct writer_event {
	struct perf_attr attr;
	char *name;
	uint64_t *ids;
	size_t id_count;
};

struct writer_section {
	uint64_t offset, size;
};

struct perfdata_writer {
	int fd;
	bool is_pipe, has_begun, is_broken;
	VEC(struct writer_event) events;
	uint64_t data_offset; /* File offset; 0 in a pipe. */
	uint64_t end; /* Size of everything written since data_offset, which determines the file position. */
	uint64_t published; /* Data size in the header; the feature table is at this offset. */
	bool is_published;
	uint64_t present[4]; /* Bits of the features before the data. */
	struct writer_section front[FEATURE_BITS];
	uint64_t front_offset;
	struct writer contents; /* Contents of the features before the data, which begin at front_offset. */
	struct writer table; /* Section headers of the features before the data, in the order of the bits. */
	struct compressor *compressor;
	struct writer packed;
	VEC(uint64_t) part_bytes; /* Sizes of the other files of this recording, for the mark at the end. */
};

static enum tally_status writer_make(int fd, bool is_pipe, struct perfdata_writer **writer, struct tally_error *err)
{
	struct perfdata_writer *w = calloc(1, sizeof(*w));
	if (!w)
		return error_nomem(err);
	w->fd = fd;
	w->is_pipe = is_pipe;
	*writer = w;
	return TALLY_OK;
}

enum tally_status perfdata_writer_create_file(
	const char *path, bool keep_old, struct perfdata_writer **writer, struct tally_error *err)
{
	if (keep_old) {
		enum tally_status status = old_recording_keep(path, err);
		if (status != TALLY_OK)
			return status;
	}
	int fd = open(path, O_CREAT | O_RDWR | O_TRUNC | O_CLOEXEC, 0600);
	if (fd < 0)
		return error_set_errno(err, errno == EACCES || errno == EPERM ? TALLY_DENIED : TALLY_IO, errno,
			"failed to open %s; choose another file with -o", path);
	enum tally_status status = writer_make(fd, false, writer, err);
	if (status != TALLY_OK)
		close(fd);
	return status;
}

enum tally_status perfdata_writer_create_pipe(int fd, struct perfdata_writer **writer, struct tally_error *err)
{
	return writer_make(fd, true, writer, err);
}

void perfdata_writer_destroy(struct perfdata_writer *w)
{
	if (!w)
		return;
	for (size_t i = 0; i < w->events.len; i++) {
		free(w->events.items[i].name);
		free(w->events.items[i].ids);
	}
	vec_free(&w->events);
	vec_free(&w->part_bytes);
	writer_deinit(&w->contents);
	writer_deinit(&w->table);
	writer_deinit(&w->packed);
	compressor_destroy(w->compressor);
	if (!w->is_pipe)
		close(w->fd);
	free(w);
}

enum tally_status perfdata_writer_add_event(struct perfdata_writer *w, const struct perf_attr *attr,
	struct tally_str name, const uint64_t *ids, size_t id_count, struct tally_error *err)
{
	struct writer_event event = {.attr = *attr, .id_count = id_count};
	event.name = strndup(name.data, name.len);
	event.ids = calloc(id_count ? id_count : 1, sizeof(*ids));
	if (!event.name || !event.ids || !vec_push(&w->events, event)) {
		free(event.name);
		free(event.ids);
		return error_nomem(err);
	}
	memcpy(event.ids, ids, id_count * sizeof(*ids));
	return TALLY_OK;
}

static uint32_t attr_size_of(const struct perfdata_writer *w)
{
	uint32_t size = ATTR_SIZE_VER0;
	for (size_t i = 0; i < w->events.len; i++)
		size = MAX(size, w->events.items[i].attr.size);
	return size;
}

static void writer_put_attr(struct writer *out, const struct perf_attr *attr, uint32_t size)
{
	struct perf_attr padded = *attr;
	padded.size = size; /* Fields beyond the attr's own size are 0. */
	attr_encode(out, &padded);
}

/* Contents before the data stay valid while the data grows. */
static void put_front_features(struct perfdata_writer *w, uint64_t offset, const struct perfdata_features *features)
{
	w->front_offset = offset;
	for (unsigned bit = 1; bit < FEATURE_BITS; bit++) {
		struct writer_section *section = &w->front[bit];
		/* Only the features of perf and, of tally's own, the origin are written before the data. */
		if (!feature_is_present(features, bit) || (bit >= FEATURE_COUNT && bit != FEATURE_ORIGIN))
			continue;
		section->offset = offset + w->contents.len;
		feature_encode(&w->contents, bit, features);
		section->size = offset + w->contents.len - section->offset;
		writer_u64(&w->table, section->offset);
		writer_u64(&w->table, section->size);
		w->present[bit / 64] |= UINT64_C(1) << (bit % 64);
	}
}

/* Writes the header, IDs, attrs and features; the data follows. */
static enum tally_status writer_begin_file(
	struct perfdata_writer *w, const struct perfdata_features *features, struct tally_error *err)
{
	uint32_t attr_size = attr_size_of(w);
	uint64_t id_offset = PERFDATA_HEADER_BYTES;
	uint64_t attrs_offset = id_offset;
	struct writer out = {0};
	for (size_t i = 0; i < w->events.len; i++)
		attrs_offset += w->events.items[i].id_count * sizeof(uint64_t);
	uint64_t attrs_bytes = w->events.len * (uint64_t)(attr_size + WRITER_SECTION_BYTES);
	put_front_features(w, attrs_offset + attrs_bytes, features);
	w->data_offset = (attrs_offset + attrs_bytes + w->contents.len + 7) & ~UINT64_C(7);
	writer_u64(&out, PERFDATA_MAGIC2);
	writer_u64(&out, PERFDATA_HEADER_BYTES);
	writer_u64(&out, attr_size + WRITER_SECTION_BYTES);
	writer_u64(&out, attrs_offset);
	writer_u64(&out, attrs_bytes);
	writer_u64(&out, w->data_offset);
	/* Data size, event types and features are written later. */
	writer_zeros(&out, PERFDATA_HEADER_BYTES - out.len);
	for (size_t i = 0; i < w->events.len; i++)
		for (size_t k = 0; k < w->events.items[i].id_count; k++)
			writer_u64(&out, w->events.items[i].ids[k]);
	for (size_t i = 0; i < w->events.len; i++) {
		uint64_t bytes = w->events.items[i].id_count * sizeof(uint64_t);
		writer_put_attr(&out, &w->events.items[i].attr, attr_size);
		writer_u64(&out, id_offset);
		writer_u64(&out, bytes);
		id_offset += bytes;
	}
	writer_bytes(&out, w->contents.data, w->contents.len);
	writer_align(&out, 8);
	bool failed = out.failed || w->contents.failed || w->table.failed;
	enum tally_status status = failed ? error_nomem(err) : file_write_all(w->fd, out.data, out.len, err);
	writer_deinit(&out);
	return status;
}

static enum tally_status put_pipe_attr(
	const struct perfdata_writer *w, struct writer *out, const struct writer_event *event, struct tally_error *err)
{
	struct writer body = {0};
	struct record_fields fields = {.type = RECORD_HEADER_ATTR};
	struct sample_id none = {0};
	writer_put_attr(&body, &event->attr, attr_size_of(w));
	for (size_t i = 0; i < event->id_count; i++)
		writer_u64(&body, event->ids[i]);
	fields.attr.attr_and_ids = writer_view(&body);
	bool is_written = !body.failed && record_encode(out, &fields, 0, NULL, &none);
	if (is_written && event->id_count) {
		struct record_fields update = {.type = RECORD_EVENT_UPDATE};
		update.event_update.update_type = EVENT_UPDATE_NAME;
		update.event_update.id = event->ids[0];
		update.event_update.payload =
			(struct tally_bytes){(const uint8_t *)event->name, strlen(event->name) + 1};
		is_written = record_encode(out, &update, 0, NULL, &none);
	}
	writer_deinit(&body);
	return is_written ? TALLY_OK
			  : error_set(err, TALLY_LIMIT, "the event %s has too many ids for a pipe", event->name);
}

static enum tally_status writer_begin_pipe(
	struct perfdata_writer *w, const struct perfdata_features *features, struct tally_error *err)
{
	struct writer out = {0};
	struct sample_id none = {0};
	enum tally_status status = TALLY_OK;
	writer_u64(&out, PERFDATA_MAGIC2);
	writer_u64(&out, PERFDATA_PIPE_HEADER_BYTES);
	for (size_t i = 0; status == TALLY_OK && i < w->events.len; i++)
		status = put_pipe_attr(w, &out, &w->events.items[i], err);
	for (unsigned bit = 1; status == TALLY_OK && bit < FEATURE_COUNT; bit++) {
		struct record_fields fields = {.type = RECORD_HEADER_FEATURE, .feature = {.feature = bit}};
		struct writer body = {0};
		if (!feature_is_present(features, bit) || bit == FEATURE_BUILD_ID || bit == FEATURE_TRACING_DATA)
			continue;
		feature_encode(&body, bit, features);
		fields.feature.payload = writer_view(&body);
		/* A section that fits in no record is omitted, because nothing depends on it. */
		(void)record_encode(&out, &fields, 0, NULL, &none);
		writer_deinit(&body);
	}
	if (status == TALLY_OK && feature_is_present(features, FEATURE_ORIGIN)) {
		struct writer section = {0};
		feature_encode(&section, FEATURE_ORIGIN, features);
		origin_put_record(&out, writer_view(&section));
		out.failed |= section.failed;
		writer_deinit(&section);
	}
	if (status == TALLY_OK && features->tracing_data.len) {
		struct record_fields fields = {.type = RECORD_HEADER_TRACING_DATA};
		fields.tracing_data.size = (uint32_t)((features->tracing_data.len + 7) & ~(size_t)7);
		(void)record_encode(&out, &fields, 0, NULL, &none);
		writer_bytes(&out, features->tracing_data.data, features->tracing_data.len);
		writer_align(&out, 8);
	}
	if (status == TALLY_OK)
		status = out.failed ? error_nomem(err) : file_write_all(w->fd, out.data, out.len, err);
	writer_deinit(&out);
	return status;
}

static enum tally_status write_vector(
	const struct perfdata_writer *w, struct iovec *vec, int count, struct tally_error *err)
{
	unsigned interrupts = 0;
	while (count > 0) {
		ssize_t n = writev(w->fd, vec, count);
		if (n < 0 && is_interrupted(&interrupts))
			continue;
		if (n < 0)
			return error_set_errno(err, TALLY_IO, errno, "writing samples");
		while (count > 0 && (size_t)n >= vec->iov_len) {
			n -= (ssize_t)vec->iov_len;
			vec++;
			count--;
		}
		if (count > 0) {
			vec->iov_base = (uint8_t *)vec->iov_base + n;
			vec->iov_len -= (size_t)n;
		}
	}
	return TALLY_OK;
}

static void put_round_header(uint8_t header[RECORD_HEADER_BYTES], uint16_t size)
{
	uint32_t type = RECORD_FINISHED_ROUND;
	uint16_t misc = 0;
	memcpy(header, &type, sizeof(type));
	memcpy(header + 4, &misc, sizeof(misc));
	memcpy(header + 6, &size, sizeof(size));
}

/* Data size and features of the header are in one write, so that no intermediate state is visible. */
static enum tally_status writer_put_header(
	const struct perfdata_writer *w, uint64_t size, const uint64_t present[4], struct tally_error *err)
{
	uint64_t fields[7] = {size};
	memcpy(&fields[3], present, 4 * sizeof(*present));
	return file_write_all_at(w->fd, fields, sizeof(fields), WRITER_DATA_SIZE_OFFSET, err);
}

/* Turns the feature table into the body of a FINISHED_ROUND record, because records will follow it. */
static enum tally_status wrap_table(const struct perfdata_writer *w, struct tally_error *err)
{
	uint8_t header[RECORD_HEADER_BYTES];
	if (!w->is_published || w->table.len == 0)
		return TALLY_OK;
	put_round_header(header, (uint16_t)w->table.len);
	return file_write_all_at(w->fd, header, sizeof(header), w->data_offset + w->published, err);
}

/* Writes a copy of the table after the last record, then the header. writer.h explains this order. */
static enum tally_status writer_publish(struct perfdata_writer *w, struct tally_error *err)
{
	enum tally_status status = file_write_all_at(w->fd, w->table.data, w->table.len, w->data_offset + w->end, err);
	if (status == TALLY_OK)
		status = wrap_table(w, err);
	if (status == TALLY_OK)
		status = writer_put_header(w, w->end, w->present, err);
	if (status != TALLY_OK)
		return status;
	w->published = w->end;
	w->is_published = true;
	w->end += w->table.len;
	return lseek(w->fd, (off_t)(w->data_offset + w->end), SEEK_SET) < 0 && errno != ESPIPE
		       ? error_set_errno(err, TALLY_IO, errno, "seeking in the recording")
		       : TALLY_OK;
}

static bool has_unpublished(const struct perfdata_writer *w)
{
	return !w->is_published || w->end > w->published + w->table.len;
}

static uint64_t written_bytes(const struct perfdata_writer *w)
{
	struct stat st;
	return fstat(w->fd, &st) == 0 && (uint64_t)st.st_size > w->data_offset ? (uint64_t)st.st_size - w->data_offset
									       : 0;
}

/* Called if writing fails, as on a full disk: complete records remain as far as the table fits after them in space that
 * the file already has. */
static void keep_whole_records(struct perfdata_writer *w, uint64_t records_end)
{
	uint64_t room = written_bytes(w);
	uint64_t at = w->is_published ? w->published + w->table.len : 0;
	uint64_t keep = at;
	uint8_t header[RECORD_HEADER_BYTES];
	uint16_t size;
	w->is_broken = true;
	while (at <= records_end && at + w->table.len <= room) {
		keep = at;
		if (at == records_end ||
			pread(w->fd, header, sizeof(header), (off_t)(w->data_offset + at)) != (ssize_t)sizeof(header))
			break;
		memcpy(&size, header + 6, sizeof(size));
		if (size < sizeof(header))
			break;
		at += size;
	}
	w->end = keep;
	if (has_unpublished(w) && writer_publish(w, NULL) != TALLY_OK && w->is_published)
		w->end = w->published + w->table.len;
	(void)!ftruncate(w->fd, (off_t)(w->data_offset + w->end));
}

static enum tally_status write_records(
	struct perfdata_writer *w, struct iovec *vec, size_t count, struct tally_error *err)
{
	uint64_t bytes = 0;
	for (size_t i = 0; i < count; i++)
		bytes += vec[i].iov_len;
	enum tally_status status = write_vector(w, vec, (int)count, err);
	if (status == TALLY_OK)
		w->end += bytes;
	else if (w->is_pipe)
		w->is_broken = true;
	else
		keep_whole_records(w, written_bytes(w));
	return status;
}

/* The mark (see end_mark.h) is not compressed, so that it is found without decompression. */
static enum tally_status write_mark(struct perfdata_writer *w, bool is_end, struct tally_error *err)
{
	struct writer mark = {0};
	if (is_end)
		end_mark_put_end(&mark, w->part_bytes.items, w->part_bytes.len);
	else
		end_mark_put_begin(&mark);
	struct iovec vec = {mark.data, mark.len};
	enum tally_status status = mark.failed ? error_nomem(err) : write_records(w, &vec, 1, err);
	writer_deinit(&mark);
	return status;
}

enum tally_status perfdata_writer_begin(
	struct perfdata_writer *w, const struct perfdata_features *features, struct tally_error *err)
{
	enum tally_status status =
		w->is_pipe ? writer_begin_pipe(w, features, err) : writer_begin_file(w, features, err);

	w->has_begun = status == TALLY_OK;
	return status == TALLY_OK ? write_mark(w, false, err) : status;
}

enum tally_status perfdata_writer_add_part(struct perfdata_writer *w, uint64_t bytes, struct tally_error *err)
{
	return vec_push(&w->part_bytes, bytes) ? TALLY_OK : error_nomem(err);
}

enum tally_status perfdata_writer_append(
	struct perfdata_writer *w, const struct tally_bytes *slices, size_t slice_count, struct tally_error *err)
{
	struct iovec vec[SLICES_MAX];
	size_t used = 0;
	if (w->is_broken || !w->has_begun)
		return error_set(err, TALLY_INVALID, "the recording takes no more records");
	if (slice_count > SLICES_MAX)
		return error_set(err, TALLY_INVALID, "too many slices at once");
	if (w->compressor) {
		writer_clear(&w->packed);
		enum tally_status status = compressor_pack(w->compressor, slices, slice_count, &w->packed, err);
		if (status != TALLY_OK)
			return status;
		vec[used++] = (struct iovec){w->packed.data, w->packed.len};
	}
	for (size_t i = 0; i < slice_count && !w->compressor; i++)
		if (slices[i].len)
			vec[used++] = (struct iovec){(void *)(uintptr_t)slices[i].data, slices[i].len};
	return write_records(w, vec, used, err);
}

enum tally_status perfdata_writer_finish_round(struct perfdata_writer *w, struct tally_error *err)
{
	uint8_t record[RECORD_HEADER_BYTES];
	struct iovec vec = {record, sizeof(record)};
	/* From the first round on, a killed or truncated recording describes its events. */
	bool is_due = !w->is_pipe && (!w->is_published || w->end - w->published >= PUBLISH_BYTES);

	if (w->is_broken || !w->has_begun)
		return error_set(err, TALLY_INVALID, "the recording takes no more records");
	if (is_due && w->table.len) /* The table serves as the end of the round. */
		return perfdata_writer_sync(w, err);
	put_round_header(record, sizeof(record));
	enum tally_status status = write_records(w, &vec, 1, err);
	return status == TALLY_OK && is_due ? perfdata_writer_sync(w, err) : status;
}

enum tally_status perfdata_writer_sync(struct perfdata_writer *w, struct tally_error *err)
{
	if (w->is_pipe || !w->has_begun || w->is_broken || !has_unpublished(w))
		return TALLY_OK;
	enum tally_status status = writer_publish(w, err);
	if (status != TALLY_OK)
		keep_whole_records(w, w->end);
	return status;
}

uint64_t perfdata_writer_data_bytes(const struct perfdata_writer *w)
{
	return has_unpublished(w) ? w->end : w->published;
}

enum tally_status perfdata_writer_compress(struct perfdata_writer *w, int level, struct tally_error *err)
{
	return compressor_create(level, &w->compressor, err);
}

struct compressor_totals perfdata_writer_totals(const struct perfdata_writer *w)
{
	return w->compressor ? compressor_totals(w->compressor) : (struct compressor_totals){0};
}

/* Returns the section of a feature at the end; if the contents are unchanged, that is the section before the data. */
static struct writer_section final_section(const struct perfdata_writer *w, unsigned bit, struct writer *content,
	const struct perfdata_features *features, uint64_t base)
{
	/* The offset is 0 if the feature is written only at the end. */
	const struct writer_section *front = &w->front[bit];
	size_t start = content->len;
	feature_encode(content, bit, features);
	struct writer_section section = {base + start, content->len - start};
	if (content->failed || front->offset == 0 || front->size != section.size)
		return section;
	const uint8_t *before = w->contents.data + (front->offset - w->front_offset);
	if (section.size && memcmp(before, content->data + start, section.size) != 0)
		return section;
	content->len = start;
	return *front;
}

/* Writes, after the data, one section header per feature and then the contents that are new. */
static enum tally_status write_features(struct perfdata_writer *w, const struct perfdata_features *features,
	uint64_t present[4], struct tally_error *err)
{
	uint64_t at = w->data_offset + w->end;
	size_t count = 0;
	struct writer table = {0}, content = {0};
	for (unsigned bit = 1; bit < FEATURE_BITS; bit++)
		count += feature_is_present(features, bit);
	for (unsigned bit = 1; bit < FEATURE_BITS; bit++) {
		if (!feature_is_present(features, bit))
			continue;
		struct writer_section section =
			final_section(w, bit, &content, features, at + count * WRITER_SECTION_BYTES);
		writer_u64(&table, section.offset);
		writer_u64(&table, section.size);
		present[bit / 64] |= UINT64_C(1) << (bit % 64);
	}
	writer_bytes(&table, content.data, content.len);
	enum tally_status status = table.failed || content.failed
					   ? error_nomem(err)
					   : file_write_all_at(w->fd, table.data, table.len, at, err);
	writer_deinit(&table);
	writer_deinit(&content);
	return status;
}

enum tally_status perfdata_writer_close(
	struct perfdata_writer *w, const struct perfdata_features *features, struct tally_error *err)
{
	uint64_t present[4] = {0};
	if (!w->has_begun || (w->is_pipe && w->is_broken))
		return TALLY_OK;
	if (w->is_pipe)
		return write_mark(w, true, err);
	if (!features || w->is_broken)
		return perfdata_writer_sync(w, err);
	enum tally_status status = write_mark(w, true, err);
	if (status != TALLY_OK)
		return status;
	status = write_features(w, features, present, err);
	if (status != TALLY_OK) {
		keep_whole_records(w, w->end);
		return status;
	}
	status = wrap_table(w, err);
	if (status == TALLY_OK)
		status = writer_put_header(w, w->end, present, err);
	w->published = w->end;
	w->is_published = true;
	w->has_begun = false;
	return status;
}

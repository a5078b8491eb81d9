#include "perfdata/writer.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "abi/encode.h"
#include "base/error.h"
#include "base/file.h"
#include "base/vec.h"
#include "base/writer.h"
#include "perfdata/feature_encode.h"
#include "perfdata/format.h"

#define PERFDATA_WRITER_SYNC_BYTES (1u << 20) /* what a killed recording may lose of its size */
#define DATA_SIZE_OFFSET	   48 /* in the header */
#define SECTION_BYTES		   16
#define SLICES_MAX		   16

struct writer_event {
	struct perf_attr attr;
	char *name;
	uint64_t *ids;
	size_t id_count;
};

struct perfdata_writer {
	int fd;
	bool is_pipe, has_begun, is_broken;
	VEC(struct writer_event) events;
	uint64_t data_offset; /* in the file; 0 in a pipe */
	uint64_t data_bytes; /* whole records that were written */
	uint64_t synced_bytes;
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

/* An empty file is not worth keeping; perf keeps one generation too. */
static enum tally_status keep_old_file(const char *path, struct tally_error *err)
{
	struct stat st;
	char old[PATH_MAX];

	if (stat(path, &st) != 0 || !S_ISREG(st.st_mode) || st.st_size == 0)
		return TALLY_OK;
	if ((size_t)snprintf(old, sizeof(old), "%s.old", path) >= sizeof(old))
		return error_set(err, TALLY_INVALID, "the path '%s' is too long", path);
	if (rename(path, old) != 0)
		return error_set_errno(err, TALLY_IO, errno, "'%s' cannot be kept as '%s'", path, old);
	return TALLY_OK;
}

enum tally_status perfdata_writer_create_file(
	const char *path, bool keep_old, struct perfdata_writer **writer, struct tally_error *err)
{
	if (keep_old) {
		enum tally_status st = keep_old_file(path, err);
		if (st != TALLY_OK)
			return st;
	}
	int fd = open(path, O_CREAT | O_RDWR | O_TRUNC | O_CLOEXEC, 0600);
	if (fd < 0)
		return error_set_errno(err, errno == EACCES || errno == EPERM ? TALLY_DENIED : TALLY_IO, errno,
			"failed to open %s; choose another file with -o", path);
	enum tally_status st = writer_make(fd, false, writer, err);
	if (st != TALLY_OK)
		close(fd);
	return st;
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
		if (w->events.items[i].attr.size > size)
			size = w->events.items[i].attr.size;
	return size;
}

static void put_attr(struct writer *out, const struct perf_attr *attr, uint32_t size)
{
	struct perf_attr padded = *attr;

	padded.size = size; /* fields that it has not are 0 */
	attr_encode(out, &padded);
}

/* Header, ids, attrs; the data follows. */
static enum tally_status begin_file(struct perfdata_writer *w, struct tally_error *err)
{
	uint32_t attr_size = attr_size_of(w);
	uint64_t id_offset = PERFDATA_HEADER_BYTES;
	uint64_t attrs_offset = id_offset;
	struct writer out = {0};

	for (size_t i = 0; i < w->events.len; i++)
		attrs_offset += w->events.items[i].id_count * sizeof(uint64_t);
	uint64_t attrs_bytes = w->events.len * (uint64_t)(attr_size + SECTION_BYTES);
	w->data_offset = attrs_offset + attrs_bytes;
	writer_u64(&out, PERFDATA_MAGIC2);
	writer_u64(&out, PERFDATA_HEADER_BYTES);
	writer_u64(&out, attr_size + SECTION_BYTES);
	writer_u64(&out, attrs_offset);
	writer_u64(&out, attrs_bytes);
	writer_u64(&out, w->data_offset);
	writer_zeros(&out, PERFDATA_HEADER_BYTES - out.len); /* data size, event types, features: later */
	for (size_t i = 0; i < w->events.len; i++)
		for (size_t k = 0; k < w->events.items[i].id_count; k++)
			writer_u64(&out, w->events.items[i].ids[k]);
	for (size_t i = 0; i < w->events.len; i++) {
		uint64_t bytes = w->events.items[i].id_count * sizeof(uint64_t);
		put_attr(&out, &w->events.items[i].attr, attr_size);
		writer_u64(&out, id_offset);
		writer_u64(&out, bytes);
		id_offset += bytes;
	}
	enum tally_status st = out.failed ? error_nomem(err) : file_write_all(w->fd, out.data, out.len, err);
	writer_deinit(&out);
	return st;
}

static enum tally_status put_pipe_attr(
	const struct perfdata_writer *w, struct writer *out, const struct writer_event *event, struct tally_error *err)
{
	struct writer body = {0};
	struct record_fields fields = {.type = RECORD_HEADER_ATTR};
	struct sample_id none = {0};

	put_attr(&body, &event->attr, attr_size_of(w));
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

static enum tally_status begin_pipe(
	struct perfdata_writer *w, const struct perfdata_features *features, struct tally_error *err)
{
	struct writer out = {0};
	struct sample_id none = {0};
	enum tally_status st = TALLY_OK;

	writer_u64(&out, PERFDATA_MAGIC2);
	writer_u64(&out, PERFDATA_PIPE_HEADER_BYTES);
	for (size_t i = 0; st == TALLY_OK && i < w->events.len; i++)
		st = put_pipe_attr(w, &out, &w->events.items[i], err);
	for (unsigned bit = 1; st == TALLY_OK && bit < FEATURE_COUNT; bit++) {
		struct record_fields fields = {.type = RECORD_HEADER_FEATURE, .feature = {.feature = bit}};
		struct writer body = {0};
		if (!feature_is_present(features, bit) || bit == FEATURE_BUILD_ID || bit == FEATURE_TRACING_DATA)
			continue;
		feature_encode(&body, bit, features);
		fields.feature.payload = writer_view(&body);
		/* A section that fits in no record is left out: it describes, nothing depends on it. */
		(void)record_encode(&out, &fields, 0, NULL, &none);
		writer_deinit(&body);
	}
	if (st == TALLY_OK && features->tracing_data.len) {
		struct record_fields fields = {.type = RECORD_HEADER_TRACING_DATA};
		fields.tracing_data.size = (uint32_t)((features->tracing_data.len + 7) & ~(size_t)7);
		(void)record_encode(&out, &fields, 0, NULL, &none);
		writer_bytes(&out, features->tracing_data.data, features->tracing_data.len);
		writer_align(&out, 8);
	}
	if (st == TALLY_OK)
		st = out.failed ? error_nomem(err) : file_write_all(w->fd, out.data, out.len, err);
	writer_deinit(&out);
	return st;
}

enum tally_status perfdata_writer_begin(
	struct perfdata_writer *w, const struct perfdata_features *features, struct tally_error *err)
{
	enum tally_status st = w->is_pipe ? begin_pipe(w, features, err) : begin_file(w, err);

	w->has_begun = st == TALLY_OK;
	return st;
}

static enum tally_status write_vector(
	const struct perfdata_writer *w, struct iovec *vec, int count, struct tally_error *err)
{
	while (count > 0) {
		ssize_t n = writev(w->fd, vec, count);
		if (n < 0 && errno == EINTR)
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

enum tally_status perfdata_writer_append(
	struct perfdata_writer *w, const struct tally_bytes *slices, size_t slice_count, struct tally_error *err)
{
	struct iovec vec[SLICES_MAX];
	uint64_t bytes = 0;
	size_t used = 0;

	if (w->is_broken || !w->has_begun)
		return error_set(err, TALLY_INVALID, "the recording takes no more records");
	if (slice_count > SLICES_MAX)
		return error_set(err, TALLY_INVALID, "too many slices at once");
	for (size_t i = 0; i < slice_count; i++) {
		if (slices[i].len == 0)
			continue;
		vec[used++] = (struct iovec){(void *)(uintptr_t)slices[i].data, slices[i].len};
		bytes += slices[i].len;
	}
	enum tally_status st = write_vector(w, vec, (int)used, err);
	if (st != TALLY_OK) {
		w->is_broken = true;
		/* Back to whole records. What cannot be cut off is behind the size that the header tells. */
		if (!w->is_pipe && ftruncate(w->fd, (off_t)(w->data_offset + w->data_bytes)) == 0)
			(void)lseek(w->fd, (off_t)(w->data_offset + w->data_bytes), SEEK_SET);
		return st;
	}
	w->data_bytes += bytes;
	/* The first time too: a size of 0 makes perf doubt the whole file. */
	bool is_due = w->synced_bytes == 0 || w->data_bytes - w->synced_bytes >= PERFDATA_WRITER_SYNC_BYTES;
	return is_due ? perfdata_writer_sync(w, err) : TALLY_OK;
}

enum tally_status perfdata_writer_finish_round(struct perfdata_writer *w, struct tally_error *err)
{
	uint8_t record[RECORD_HEADER_BYTES];
	uint32_t type = RECORD_FINISHED_ROUND;
	uint16_t misc = 0, size = sizeof(record);

	memcpy(record, &type, sizeof(type));
	memcpy(record + 4, &misc, sizeof(misc));
	memcpy(record + 6, &size, sizeof(size));
	struct tally_bytes slice = {record, sizeof(record)};
	return perfdata_writer_append(w, &slice, 1, err);
}

enum tally_status perfdata_writer_sync(struct perfdata_writer *w, struct tally_error *err)
{
	if (w->is_pipe || !w->has_begun)
		return TALLY_OK;
	w->synced_bytes = w->data_bytes;
	return file_write_all_at(w->fd, &w->data_bytes, sizeof(w->data_bytes), DATA_SIZE_OFFSET, err);
}

uint64_t perfdata_writer_data_bytes(const struct perfdata_writer *w)
{
	return w->data_bytes;
}

/* Behind the data: a section per feature that has content, then the contents. */
static enum tally_status write_features(struct perfdata_writer *w, const struct perfdata_features *features,
	uint64_t present[4], struct tally_error *err)
{
	uint64_t base = w->data_offset + w->data_bytes;
	size_t count = 0, section = 0;
	struct writer out = {0};

	for (unsigned bit = 1; bit < FEATURE_COUNT; bit++)
		count += feature_is_present(features, bit);
	writer_zeros(&out, count * SECTION_BYTES);
	for (unsigned bit = 1; bit < FEATURE_COUNT; bit++) {
		size_t start = out.len;
		if (!feature_is_present(features, bit))
			continue;
		feature_encode(&out, bit, features);
		if (out.failed)
			break;
		writer_patch_u64(&out, section, base + start);
		writer_patch_u64(&out, section + 8, out.len - start);
		section += SECTION_BYTES;
		present[bit / 64] |= UINT64_C(1) << (bit % 64);
	}
	enum tally_status st = out.failed ? error_nomem(err) : file_write_all_at(w->fd, out.data, out.len, base, err);
	writer_deinit(&out);
	return st;
}

enum tally_status perfdata_writer_close(
	struct perfdata_writer *w, const struct perfdata_features *features, struct tally_error *err)
{
	uint64_t present[4] = {0};
	enum tally_status st = TALLY_OK;

	if (w->is_pipe || !w->has_begun)
		return TALLY_OK;
	if (features)
		st = write_features(w, features, present, err);
	enum tally_status synced = perfdata_writer_sync(w, st == TALLY_OK ? err : NULL);
	if (st != TALLY_OK)
		return st;
	if (synced != TALLY_OK)
		return synced;
	return file_write_all_at(w->fd, present, sizeof(present), PERFDATA_HEADER_BYTES - sizeof(present), err);
}

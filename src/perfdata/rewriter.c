/* SPDX-License-Identifier: Apache-2.0 */
#include "perfdata/rewriter.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "abi/encode.h"
#include "abi/event_name.h"
#include "base/array.h"
#include "base/error.h"
#include "base/file.h"
#include "base/map_u64.h"
#include "perfdata/origin.h"

#define BUFFER_BYTES		  (256u << 10) /* Size of a write. */
#define REWRITER_SECTION_BYTES	  16
#define REWRITER_DATA_SIZE_OFFSET 48 /* Offset in the header. */
#define BITS_OFFSET		  72
#define ATTR_SIZE_OFFSET	  4 /* Offset in an attr. */
#define TEMPORARY_SUFFIX	  ".XXXXXX"

struct perfdata_rewriter {
	int fd;
	bool is_pipe, from_pipe;
	char *path; /* NULL if fd belongs to the caller. */
	char *temporary; /* NULL if path is written directly. */
	struct writer buffer;
	uint64_t position; /* File offset of the start of the buffer. */
	uint64_t data_offset;
	struct map_u64 aux_offsets; /* Maps the old offset of each AUXTRACE record to its new one. */
	unsigned left_out;
	const struct tally_bytes *attrs; /* One per event; NULL if the stored ones are written. */
};

void perfdata_rewriter_set_attrs(struct perfdata_rewriter *w, const struct tally_bytes *attrs)
{
	w->attrs = attrs;
}

static struct tally_bytes attr_of(const struct perfdata_rewriter *w, const struct perfdata_event *event)
{
	return w->attrs ? w->attrs[event->index] : event->stored_attr;
}

static enum tally_status rewriter_open_beside(struct perfdata_rewriter *w, struct tally_error *err)
{
	struct stat st;
	bool is_there = stat(w->path, &st) == 0;
	if (is_there && S_ISDIR(st.st_mode))
		return error_set(err, TALLY_INVALID, "'%s' is a directory", w->path);
	if (is_there && !S_ISREG(st.st_mode)) {
		w->fd = open(w->path, O_WRONLY | O_CLOEXEC);
	} else {
		size_t len = strlen(w->path) + sizeof(TEMPORARY_SUFFIX);
		w->temporary = calloc(len, 1);
		if (!w->temporary)
			return error_nomem(err);
		snprintf(w->temporary, len, "%s" TEMPORARY_SUFFIX, w->path);
		w->fd = mkostemp(w->temporary, O_CLOEXEC);
	}
	if (w->fd >= 0 && lseek(w->fd, 0, SEEK_CUR) < 0)
		return error_set(err, TALLY_INVALID, "%s is a pipe: use -o - to write a stream", w->path);
	if (w->fd >= 0)
		return TALLY_OK;
	int reason = errno;
	free(w->temporary); /* The temporary file does not exist. */
	w->temporary = NULL;
	return error_set_errno(err, reason == EACCES || reason == EPERM ? TALLY_DENIED : TALLY_IO, reason,
		"failed to open %s", w->path);
}

enum tally_status perfdata_rewriter_create_file(
	const char *path, struct perfdata_rewriter **rewriter, struct tally_error *err)
{
	struct perfdata_rewriter *w = calloc(1, sizeof(*w));
	char target[PATH_MAX];
	if (!w)
		return error_nomem(err);
	w->fd = -1;
	/* A symbolic link remains, and its target is written. */
	w->path = strdup(realpath(path, target) ? target : path);
	enum tally_status status = w->path ? rewriter_open_beside(w, err) : error_nomem(err);
	if (status != TALLY_OK) {
		perfdata_rewriter_destroy(w);
		return status;
	}
	*rewriter = w;
	return TALLY_OK;
}

static enum tally_status create_on(int fd, bool is_pipe, struct perfdata_rewriter **rewriter, struct tally_error *err)
{
	struct perfdata_rewriter *w = calloc(1, sizeof(*w));
	if (!w)
		return error_nomem(err);
	w->fd = fd;
	w->is_pipe = is_pipe;
	*rewriter = w;
	return TALLY_OK;
}

enum tally_status perfdata_rewriter_create_fd(int fd, struct perfdata_rewriter **rewriter, struct tally_error *err)
{
	return create_on(fd, false, rewriter, err);
}

enum tally_status perfdata_rewriter_create_pipe(int fd, struct perfdata_rewriter **rewriter, struct tally_error *err)
{
	return create_on(fd, true, rewriter, err);
}

void perfdata_rewriter_destroy(struct perfdata_rewriter *w)
{
	if (!w)
		return;
	if (w->temporary)
		(void)unlink(w->temporary);
	if (w->path && w->fd >= 0)
		close(w->fd);
	writer_deinit(&w->buffer);
	map_u64_deinit(&w->aux_offsets);
	free(w->temporary);
	free(w->path);
	free(w);
}

static enum tally_status rewriter_flush(struct perfdata_rewriter *w, struct tally_error *err)
{
	struct tally_error local;
	if (w->buffer.failed)
		return error_nomem(err);
	enum tally_status status = file_write_all(w->fd, w->buffer.data, w->buffer.len, &local);
	w->position += w->buffer.len;
	writer_clear(&w->buffer);
	if (status != TALLY_OK && err) {
		*err = local;
		(void)error_prefix(err, "%s", w->path ? w->path : "the output");
	}
	return status;
}

static uint64_t output_offset(const struct perfdata_rewriter *w)
{
	return w->position + w->buffer.len;
}

static enum tally_status rewriter_append(struct perfdata_rewriter *w, struct tally_bytes bytes, struct tally_error *err)
{
	writer_bytes(&w->buffer, bytes.data, bytes.len);
	return w->buffer.failed || w->buffer.len >= BUFFER_BYTES ? rewriter_flush(w, err) : TALLY_OK;
}

/* Writes an attr in `size` bytes; sets its size field if the size changes or is_size_said is true. */
static void rewriter_put_attr(struct writer *out, struct tally_bytes attr, uint32_t size, bool is_size_said)
{
	size_t start = out->len;
	size_t kept = MIN(attr.len, size);
	writer_bytes(out, attr.data, kept);
	writer_zeros(out, size - kept);
	if (is_size_said || attr.len != size)
		writer_patch_u32(out, start + ATTR_SIZE_OFFSET, size);
}

/* Older versions of perf accept an attr that is longer than theirs in a pipe, but not in a file; so zeros at its end
 * are dropped in files.
 */
static size_t attr_bytes_in_file(const struct perfdata_rewriter *w, struct tally_bytes attr)
{
	size_t len = attr.len;
	if (!w->from_pipe)
		return len;
	while (len > ATTR_SIZE_VER7 && attr.data[len - 1] == 0)
		len--;
	len = (len + 7) & ~(size_t)7;
	return MIN(len, attr.len);
}

static enum tally_status rewriter_begin_file(
	struct perfdata_rewriter *w, const struct perfdata_event *events, size_t count, struct tally_error *err)
{
	struct writer *out = &w->buffer;
	uint32_t attr_size = ATTR_SIZE_VER0;
	uint64_t id_offset = PERFDATA_HEADER_BYTES;
	uint64_t attrs_offset = id_offset;
	for (size_t i = 0; i < count; i++) {
		size_t bytes = attr_bytes_in_file(w, attr_of(w, &events[i]));
		if (bytes > attr_size)
			attr_size = (uint32_t)bytes;
		attrs_offset += events[i].id_count * sizeof(uint64_t);
	}
	uint64_t attrs_bytes = count * (uint64_t)(attr_size + REWRITER_SECTION_BYTES);
	w->data_offset = attrs_offset + attrs_bytes;
	writer_u64(out, PERFDATA_MAGIC2);
	writer_u64(out, PERFDATA_HEADER_BYTES);
	writer_u64(out, attr_size + REWRITER_SECTION_BYTES);
	writer_u64(out, attrs_offset);
	writer_u64(out, attrs_bytes);
	writer_u64(out, w->data_offset);
	/* perfdata_rewriter_finish writes data size and features. */
	writer_zeros(out, PERFDATA_HEADER_BYTES - out->len);
	for (size_t i = 0; i < count; i++)
		for (size_t k = 0; k < events[i].id_count; k++)
			writer_u64(out, events[i].ids[k]);
	for (size_t i = 0; i < count; i++) {
		uint64_t bytes = events[i].id_count * sizeof(uint64_t);
		rewriter_put_attr(out, attr_of(w, &events[i]), attr_size, false);
		writer_u64(out, id_offset);
		writer_u64(out, bytes);
		id_offset += bytes;
	}
	return rewriter_flush(w, err);
}

/* Writes an attr as a record, and the name of the event unless it follows from the attr. */
static enum tally_status put_pipe_event(
	struct perfdata_rewriter *w, const struct perfdata_event *event, struct tally_error *err)
{
	struct writer body = {.swap = w->buffer.swap};
	struct text name = {0};
	struct record_fields fields = {.type = RECORD_HEADER_ATTR};
	rewriter_put_attr(&body, attr_of(w, event), (uint32_t)attr_of(w, event).len, true);
	for (size_t i = 0; i < event->id_count; i++)
		writer_u64(&body, event->ids[i]);
	fields.attr.attr_and_ids = writer_view(&body);
	bool ok = !body.failed && record_encode(&w->buffer, &fields, 0, NULL, NULL);
	event_name_of_attr(&name, &event->attr);
	if (ok && event->id_count && !str_equal(event->name, (struct tally_str){name.data, name.len})) {
		fields = (struct record_fields){.type = RECORD_EVENT_UPDATE};
		fields.event_update.update_type = EVENT_UPDATE_NAME;
		fields.event_update.id = event->ids[0];
		writer_clear(&body);
		writer_bytes(&body, event->name.data, event->name.len);
		writer_u8(&body, 0);
		fields.event_update.payload = writer_view(&body);
		ok = record_encode(&w->buffer, &fields, 0, NULL, NULL);
	}
	bool is_out_of_memory = w->buffer.failed || body.failed || name.failed;
	writer_deinit(&body);
	text_deinit(&name);
	if (is_out_of_memory)
		return error_nomem(err);
	return ok ? TALLY_OK
		  : error_set(err, TALLY_LIMIT, "the event %.*s has too many ids for a pipe", (int)event->name.len,
			    event->name.data);
}

static void put_pipe_build_ids(struct perfdata_rewriter *w, const struct perfdata_features *features)
{
	for (size_t i = 0; i < features->build_id_count; i++) {
		const struct perfdata_build_id *id = &features->build_ids[i];
		struct record_fields fields = {.type = RECORD_HEADER_BUILD_ID};
		fields.build_id.pid = id->pid;
		fields.build_id.size = id->misc & MISC_BUILD_ID_SIZE ? id->size : 0;
		memcpy(fields.build_id.bytes, id->bytes, sizeof(id->bytes));
		fields.build_id.filename = id->filename;
		if (!record_encode(&w->buffer, &fields, id->misc, NULL, NULL))
			w->left_out++;
	}
}

/* Tracing data from a pipe has no section. */
static struct tally_bytes rewriter_section_of(const struct perfdata_features *features, unsigned bit)
{
	return bit == FEATURE_TRACING_DATA ? features->tracing_data : features->raw[bit];
}

static void put_pipe_feature(struct perfdata_rewriter *w, unsigned bit, const struct perfdata_features *features)
{
	struct tally_bytes section = rewriter_section_of(features, bit);
	struct record_fields fields = {.type = RECORD_HEADER_FEATURE};
	switch (bit) {
	case FEATURE_COMPRESSED:
	case FEATURE_DIR_FORMAT:
		return;
	case FEATURE_AUXTRACE:
		w->left_out++;
		return;
	case FEATURE_BUILD_ID:
		put_pipe_build_ids(w, features);
		return;
	case FEATURE_TRACING_DATA:
		fields = (struct record_fields){.type = RECORD_HEADER_TRACING_DATA};
		fields.tracing_data.size = (uint32_t)((section.len + 7) & ~(size_t)7);
		(void)record_encode(&w->buffer, &fields, 0, NULL, NULL);
		writer_bytes(&w->buffer, section.data, section.len);
		writer_align(&w->buffer, 8);
		return;
	case FEATURE_ORIGIN:
		origin_put_record(&w->buffer, section);
		return;
	default:
		fields.feature.feature = bit;
		fields.feature.payload = section;
		if (!record_encode(&w->buffer, &fields, 0, NULL, NULL))
			w->left_out++;
	}
}

static enum tally_status rewriter_begin_pipe(struct perfdata_rewriter *w, const struct perfdata_event *events,
	size_t count, const struct perfdata_features *features, struct tally_error *err)
{
	writer_u64(&w->buffer, PERFDATA_MAGIC2);
	writer_u64(&w->buffer, PERFDATA_PIPE_HEADER_BYTES);
	if (w->from_pipe)
		return rewriter_flush(w, err);
	for (size_t i = 0; i < count; i++) {
		enum tally_status status = put_pipe_event(w, &events[i], err);
		if (status != TALLY_OK)
			return status;
	}
	for (unsigned bit = 0; bit < FEATURE_BITS; bit++)
		if (feature_is_present(features, bit))
			put_pipe_feature(w, bit, features);
	return rewriter_flush(w, err);
}

enum tally_status perfdata_rewriter_begin(struct perfdata_rewriter *w, const struct perfdata_reader *reader,
	const struct perfdata_features *features, struct tally_error *err)
{
	size_t count;
	const struct perfdata_event *events = perfdata_reader_events(reader, &count);
	w->from_pipe = perfdata_reader_is_pipe(reader);
	w->buffer.swap = perfdata_reader_is_swapped(reader);
	return w->is_pipe ? rewriter_begin_pipe(w, events, count, features, err)
			  : rewriter_begin_file(w, events, count, err);
}

static bool is_description(const struct record *record)
{
	struct tally_bytes origin;
	return record->type == RECORD_HEADER_ATTR || record->type == RECORD_HEADER_FEATURE ||
	       record->type == RECORD_HEADER_TRACING_DATA || origin_record_section(record, &origin);
}

/* These features describe only the recording that was read. */
static bool is_untrue_feature(const struct record *record)
{
	struct record_fields fields;
	if (record->type != RECORD_HEADER_FEATURE || record_decode(record, &fields, NULL) != TALLY_OK)
		return false;
	return fields.feature.feature == FEATURE_COMPRESSED || fields.feature.feature == FEATURE_DIR_FORMAT;
}

enum tally_status perfdata_rewriter_record(
	struct perfdata_rewriter *w, const struct record *record, struct tally_bytes payload, struct tally_error *err)
{
	if (w->from_pipe && (w->is_pipe ? is_untrue_feature(record) : is_description(record)))
		return TALLY_OK;
	if (record->type == RECORD_AUXTRACE && !w->is_pipe &&
		!map_u64_set(&w->aux_offsets, record->offset, output_offset(w)))
		return error_nomem(err);
	enum tally_status status = rewriter_append(w, record->bytes, err);
	return status == TALLY_OK && payload.len ? rewriter_append(w, payload, err) : status;
}

enum tally_status perfdata_rewriter_bytes(
	struct perfdata_rewriter *w, struct tally_bytes records, struct tally_error *err)
{
	return rewriter_append(w, records, err);
}

/* The section has a count and that many pairs of offset and size; the offsets are those of AUXTRACE records. */
static void put_aux_index(struct perfdata_rewriter *w, struct tally_bytes section)
{
	struct cursor c = cursor_make(section, w->buffer.swap);
	size_t start = w->buffer.len;
	uint64_t count = cursor_u64(&c);
	writer_bytes(&w->buffer, section.data, section.len);
	if (!cursor_count(&c, count, REWRITER_SECTION_BYTES) || w->buffer.failed)
		return;
	for (uint64_t i = 0; i < count; i++) {
		size_t at = start + c.pos;
		uint64_t moved;
		if (map_u64_find(&w->aux_offsets, cursor_u64(&c), &moved))
			writer_patch_u64(&w->buffer, at, moved);
		cursor_skip(&c, sizeof(uint64_t));
	}
}

/* Some writers of pipes list features without contents, which is an error in a file. */
static bool is_written(const struct perfdata_rewriter *w, const struct perfdata_features *features, unsigned bit)
{
	if (!feature_is_present(features, bit) || bit == FEATURE_COMPRESSED || bit == FEATURE_DIR_FORMAT)
		return false;
	return !w->from_pipe || bit == FEATURE_BRANCH_STACK || rewriter_section_of(features, bit).len > 0;
}

/* Writes, after the data, one section header per feature and then the contents. */
static void put_features(struct perfdata_rewriter *w, const struct perfdata_features *features)
{
	struct writer *out = &w->buffer;
	size_t section = out->len;
	size_t count = 0;
	for (unsigned bit = 0; bit < FEATURE_BITS; bit++)
		count += is_written(w, features, bit);
	writer_zeros(out, count * REWRITER_SECTION_BYTES);
	for (unsigned bit = 0; bit < FEATURE_BITS; bit++) {
		size_t start = out->len;
		if (!is_written(w, features, bit))
			continue;
		if (bit == FEATURE_AUXTRACE)
			put_aux_index(w, features->raw[bit]);
		else
			writer_bytes(
				out, rewriter_section_of(features, bit).data, rewriter_section_of(features, bit).len);
		if (out->failed)
			return;
		writer_patch_u64(out, section, w->position + start);
		writer_patch_u64(out, section + 8, out->len - start);
		section += REWRITER_SECTION_BYTES;
	}
}

static enum tally_status finish_file(
	struct perfdata_rewriter *w, const struct perfdata_features *features, struct tally_error *err)
{
	struct writer header = {.swap = w->buffer.swap};
	uint64_t bits[FEATURE_BITS / 64] = {0};
	/* A data size of 0 would mean that the writer was killed, and readers would take the bytes after it for
	 * records. */
	struct record_fields round = {.type = RECORD_FINISHED_ROUND};
	if (output_offset(w) == w->data_offset)
		(void)record_encode(&w->buffer, &round, 0, NULL, NULL);
	enum tally_status status = rewriter_flush(w, err);
	if (status != TALLY_OK)
		return status;
	writer_u64(&header, w->position - w->data_offset);
	writer_zeros(&header, BITS_OFFSET - REWRITER_DATA_SIZE_OFFSET - sizeof(uint64_t));
	for (unsigned bit = 0; bit < FEATURE_BITS; bit++)
		if (is_written(w, features, bit))
			bits[bit / 64] |= UINT64_C(1) << (bit % 64);
	for (size_t i = 0; i < FEATURE_BITS / 64; i++)
		writer_u64(&header, bits[i]);
	put_features(w, features);
	status = rewriter_flush(w, err);
	if (status == TALLY_OK)
		status = header.failed
				 ? error_nomem(err)
				 : file_write_all_at(w->fd, header.data, header.len, REWRITER_DATA_SIZE_OFFSET, err);
	writer_deinit(&header);
	if (status != TALLY_OK || !w->temporary)
		return status;
	if (error_memory_ran_out()) /* Memory ran out somewhere, so the new recording may be incomplete. */
		return error_nomem(err);
	if (rename(w->temporary, w->path) != 0)
		return error_set_errno(err, TALLY_IO, errno, "the new recording cannot be renamed to '%s'", w->path);
	free(w->temporary);
	w->temporary = NULL;
	return TALLY_OK;
}

enum tally_status perfdata_rewriter_finish(
	struct perfdata_rewriter *w, const struct perfdata_features *features, struct tally_error *err)
{
	return w->is_pipe ? rewriter_flush(w, err) : finish_file(w, features, err);
}

unsigned perfdata_rewriter_left_out(const struct perfdata_rewriter *w)
{
	return w->left_out;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/convert/ctf_trace.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/error.h"
#include "base/file.h"
#include "base/vec.h"
#include "base/writer.h"
#include "verbs/convert/ctf_metadata.h"

#define PACKET_MAGIC  0xc1fc1fc1u
#define PACKET_BYTES  (64u << 10) /* A packet is written when it exceeds this size. */
#define STREAMS_MAX   4096u /* Maximum number of CPUs; each CPU has a file. */
#define METADATA_NAME "metadata"
#define STREAM_PREFIX "perf_stream_"
/* Offsets in a packet, in bytes. The packet context starts with the begin time, after the header of 24 bytes. */
#define BEGIN_OFFSET	    24
#define END_OFFSET	    32
#define CONTENT_BITS_OFFSET 40
#define PACKET_BITS_OFFSET  48

struct ctf_stream { /* The stream of one CPU. */
	uint32_t cpu;
	struct writer packet;
	uint64_t begin_ns, end_ns;
	bool has_file;
};

struct ctf_trace {
	int dir;
	char *path;
	uint8_t uuid[CTF_UUID_BYTES];
	uint32_t cpu_count;
	struct text metadata;
	uint32_t class_count;
	VEC(struct ctf_stream) streams;
	struct ctf_stream *current;
};

static bool is_stream_name(const char *name)
{
	size_t prefix = sizeof(STREAM_PREFIX) - 1;
	return strncmp(name, STREAM_PREFIX, prefix) == 0 && name[prefix] &&
	       strspn(name + prefix, "0123456789") == strlen(name + prefix);
}

/* Removes the files of an earlier trace, and no others. */
static enum tally_status remove_trace(const struct ctf_trace *trace, struct tally_error *err)
{
	DIR *dir = opendir(trace->path);
	if (!dir)
		return error_set_errno(err, TALLY_IO, errno, "%s", trace->path);
	const struct dirent *entry;
	while ((entry = readdir(dir)))
		if (strcmp(entry->d_name, METADATA_NAME) == 0 || is_stream_name(entry->d_name))
			(void)unlinkat(trace->dir, entry->d_name, 0);
	closedir(dir);
	return TALLY_OK;
}

static enum tally_status open_directory(struct ctf_trace *trace, bool replace, struct tally_error *err)
{
	enum tally_status status = file_make_parents(trace->path, err);
	if (status != TALLY_OK)
		return status;
	if (mkdir(trace->path, 0777) != 0 && errno != EEXIST)
		return error_set_errno(err, TALLY_IO, errno, "%s", trace->path);
	trace->dir = open(trace->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (trace->dir < 0)
		return error_set_errno(err, TALLY_IO, errno, "%s", trace->path);
	if (replace)
		return remove_trace(trace, err);
	if (faccessat(trace->dir, METADATA_NAME, F_OK, 0) == 0)
		return error_set(
			err, TALLY_INVALID, "There is a trace in %s. Use --force to overwrite it.", trace->path);
	return TALLY_OK;
}

enum tally_status ctf_trace_create(const char *path, bool replace, const struct ctf_trace_info *info,
	struct ctf_trace **out, struct tally_error *err)
{
	struct ctf_trace *trace = calloc(1, sizeof(*trace));
	if (!trace)
		return error_nomem(err);
	trace->dir = -1;
	trace->cpu_count = info->cpu_count && info->cpu_count < STREAMS_MAX ? info->cpu_count : STREAMS_MAX;
	trace->path = strdup(path);
	enum tally_status status = trace->path ? open_directory(trace, replace, err) : error_nomem(err);
	if (status == TALLY_OK && getrandom(trace->uuid, sizeof(trace->uuid), 0) != (ssize_t)sizeof(trace->uuid))
		status = error_set_errno(err, TALLY_IO, errno, "no random number for the trace");
	if (status != TALLY_OK) {
		ctf_trace_destroy(trace);
		return status;
	}
	/* Version 4, a random UUID (RFC 4122, section 4.4). */
	trace->uuid[6] = (uint8_t)((trace->uuid[6] & 0x0f) | 0x40);
	trace->uuid[8] = (uint8_t)((trace->uuid[8] & 0x3f) | 0x80);
	ctf_metadata_begin(&trace->metadata, trace->uuid, info);
	*out = trace;
	return TALLY_OK;
}

void ctf_trace_destroy(struct ctf_trace *trace)
{
	if (!trace)
		return;
	for (size_t i = 0; i < trace->streams.len; i++)
		writer_deinit(&trace->streams.items[i].packet);
	vec_free(&trace->streams);
	text_deinit(&trace->metadata);
	if (trace->dir >= 0)
		close(trace->dir);
	free(trace->path);
	free(trace);
}

uint32_t ctf_trace_add_class(
	struct ctf_trace *trace, struct tally_str name, const struct ctf_field *fields, size_t count)
{
	ctf_metadata_class(&trace->metadata, trace->class_count, name, fields, count);
	return trace->class_count++;
}

static enum tally_status ctf_trace_write_file(const struct ctf_trace *trace, const char *name, bool is_new,
	const void *data, size_t len, struct tally_error *err)
{
	int flags = O_WRONLY | O_CREAT | O_CLOEXEC | (is_new ? O_TRUNC : O_APPEND);
	int fd = openat(trace->dir, name, flags, 0666);
	if (fd < 0)
		return error_set_errno(err, TALLY_IO, errno, "%s/%s", trace->path, name);
	enum tally_status status = file_write_all(fd, data, len, err);
	if (close(fd) != 0 && status == TALLY_OK)
		status = error_set_errno(err, TALLY_IO, errno, "%s/%s", trace->path, name);
	else if (status != TALLY_OK && err)
		error_prefix(err, "%s/%s", trace->path, name);
	return status;
}

static enum tally_status write_packet(struct ctf_trace *trace, struct ctf_stream *stream, struct tally_error *err)
{
	struct writer *w = &stream->packet;
	char name[64];
	if (w->failed)
		return error_nomem(err);
	uint64_t bits = (uint64_t)w->len * 8;
	writer_patch_u64(w, BEGIN_OFFSET, stream->begin_ns);
	writer_patch_u64(w, END_OFFSET, stream->end_ns);
	writer_patch_u64(w, CONTENT_BITS_OFFSET, bits);
	writer_patch_u64(w, PACKET_BITS_OFFSET, bits);
	snprintf(name, sizeof(name), STREAM_PREFIX "%u", stream->cpu);
	enum tally_status status = ctf_trace_write_file(trace, name, !stream->has_file, w->data, w->len, err);
	stream->has_file = true;
	writer_clear(w);
	return status;
}

/* The index is the CPU number, because there are few CPUs. */
static struct ctf_stream *stream_of(struct ctf_trace *trace, uint32_t cpu)
{
	while (trace->streams.len <= cpu) {
		struct ctf_stream stream = {.cpu = (uint32_t)trace->streams.len};
		if (!vec_push(&trace->streams, stream))
			return NULL;
	}
	return &trace->streams.items[cpu];
}

enum tally_status ctf_event_begin(
	struct ctf_trace *trace, uint32_t class_id, uint32_t cpu, uint64_t time_ns, struct tally_error *err)
{
	struct ctf_stream *stream = stream_of(trace, cpu < trace->cpu_count ? cpu : 0);
	if (!stream)
		return error_nomem(err);
	struct writer *w = &stream->packet;
	if (w->len >= PACKET_BYTES || w->failed) {
		enum tally_status status = write_packet(trace, stream, err);
		if (status != TALLY_OK)
			return status;
	}
	/* Readers require ascending times in a stream. */
	time_ns = MAX(time_ns, stream->end_ns);
	if (w->len == 0) {
		writer_clear(w);
		writer_u32(w, PACKET_MAGIC);
		writer_bytes(w, trace->uuid, sizeof(trace->uuid));
		writer_u32(w, 0); /* The ID of the stream's class. */
		writer_zeros(w, 32); /* Times and sizes, which write_packet sets. */
		writer_u64(w, 0); /* Number of discarded events. */
		writer_u32(w, stream->cpu);
		stream->begin_ns = time_ns;
	}
	stream->end_ns = time_ns;
	writer_u32(w, class_id);
	writer_u64(w, time_ns);
	trace->current = stream;
	return TALLY_OK;
}

void ctf_put_u32(struct ctf_trace *trace, uint32_t value)
{
	writer_u32(&trace->current->packet, value);
}

void ctf_put_u64(struct ctf_trace *trace, uint64_t value)
{
	writer_u64(&trace->current->packet, value);
}

void ctf_put_string(struct ctf_trace *trace, struct tally_str value)
{
	size_t len = value.len ? strnlen(value.data, value.len) : 0;
	writer_bytes(&trace->current->packet, value.data, len);
	writer_u8(&trace->current->packet, 0);
}

void ctf_trace_discard(struct ctf_trace *trace)
{
	(void)remove_trace(trace, NULL);
	(void)rmdir(trace->path); /* Fails if the directory contains other files, which is intended. */
}

enum tally_status ctf_trace_close(struct ctf_trace *trace, struct tally_error *err)
{
	for (size_t i = 0; i < trace->streams.len; i++) {
		struct ctf_stream *stream = &trace->streams.items[i];
		if (stream->packet.len == 0)
			continue;
		enum tally_status status = write_packet(trace, stream, err);
		if (status != TALLY_OK)
			return status;
	}
	if (trace->metadata.failed)
		return error_nomem(err);
	return ctf_trace_write_file(trace, METADATA_NAME, true, trace->metadata.data, trace->metadata.len, err);
}

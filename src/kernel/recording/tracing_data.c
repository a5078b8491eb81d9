/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/recording/tracing_data.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/file.h"
#include "base/limits.h"
#include "kernel/events/tracepoints.h"

#define VERSION "0.6"

struct tracing_writer {
	const struct kernel_seam *kernel;
	const struct event_list *events;
	struct writer *w;
};

/* An unreadable file is written as an empty one, and the reader does without it. */
static void tracing_data_put_file(const struct tracing_writer *t, const char *name, bool has_wide_size)
{
	char path[4096], *text = NULL;
	size_t len = 0;
	snprintf(path, sizeof(path), "%s%s/%s", t->kernel->root, tracefs_directory(t->kernel), name);
	if (file_read(path, LIMIT_SMALL_FILE, &text, &len, NULL) != TALLY_OK)
		len = 0;
	if (has_wide_size)
		writer_u64(t->w, len);
	else
		writer_u32(t->w, (uint32_t)len);
	writer_bytes(t->w, text ? text : "", len);
	free(text);
}

static void tracing_data_put_header(const struct tracing_writer *t)
{
	static const uint8_t magic[] = {0x17, 0x08, 0x44};
	const uint16_t probe = 1;
	uint8_t first_byte;
	memcpy(&first_byte, &probe, 1);
	writer_bytes(t->w, magic, sizeof(magic));
	writer_bytes(t->w, "tracing", 7);
	writer_bytes(t->w, VERSION, sizeof(VERSION));
	writer_u8(t->w, first_byte == 0); /* 1 means big-endian. */
	writer_u8(t->w, sizeof(long));
	writer_u32(t->w, (uint32_t)sysconf(_SC_PAGESIZE));
	writer_bytes(t->w, "header_page", sizeof("header_page"));
	tracing_data_put_file(t, "events/header_page", true);
	writer_bytes(t->w, "header_event", sizeof("header_event"));
	tracing_data_put_file(t, "events/header_event", true);
	writer_u32(t->w, 0);
}

static const struct event_spec *tracepoint_at(const struct tracing_writer *t, size_t index)
{
	const struct event_spec *spec = &t->events->specs[index];
	return spec->tracepoint_system ? spec : NULL;
}

/* True if no earlier event is of the same subsystem or, with by_name, is the same event: each is written once. */
static bool is_first(const struct tracing_writer *t, size_t index, bool by_name)
{
	const struct event_spec *spec = tracepoint_at(t, index);
	for (size_t i = 0; spec && i < index; i++) {
		const struct event_spec *other = tracepoint_at(t, i);
		if (other && strcmp(other->tracepoint_system, spec->tracepoint_system) == 0 &&
			(!by_name || strcmp(other->tracepoint_name, spec->tracepoint_name) == 0))
			return false;
	}
	return spec != NULL;
}

static void put_system(const struct tracing_writer *t, const char *system)
{
	size_t count_at = t->w->len + strlen(system) + 1;
	uint32_t count = 0;
	char name[512];
	writer_bytes(t->w, system, strlen(system) + 1);
	writer_u32(t->w, 0);
	for (size_t i = 0; i < t->events->len; i++) {
		const struct event_spec *spec = tracepoint_at(t, i);
		if (!spec || strcmp(spec->tracepoint_system, system) != 0 || !is_first(t, i, true))
			continue;
		snprintf(name, sizeof(name), "events/%s/%s/format", system, spec->tracepoint_name);
		tracing_data_put_file(t, name, true);
		count++;
	}
	if (!t->w->failed)
		writer_patch_u32(t->w, count_at, count);
}

enum tally_status tracing_data_write(
	const struct kernel_seam *kernel, const struct event_list *events, struct writer *w, struct tally_error *err)
{
	struct tracing_writer t = {kernel, events, w};
	uint32_t systems = 0;
	for (size_t i = 0; i < events->len; i++)
		systems += is_first(&t, i, false);
	if (systems == 0)
		return TALLY_OK;
	tracing_data_put_header(&t);
	writer_u32(w, systems);
	for (size_t i = 0; i < events->len; i++)
		if (is_first(&t, i, false))
			put_system(&t, events->specs[i].tracepoint_system);
	writer_u32(w, 0);
	tracing_data_put_file(&t, "printk_formats", false);
	writer_u64(w, 0);
	return w->failed ? error_nomem(err) : TALLY_OK;
}

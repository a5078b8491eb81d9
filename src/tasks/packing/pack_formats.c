/* SPDX-License-Identifier: Apache-2.0 */
#include "tasks/packing/pack_formats.h"

#include <string.h>

#include "base/array.h"
#include "perfdata/tracing_formats.h"

struct pack_formats_copying {
	struct cursor in;
	struct writer *out;
	bool is_left_out;
};

static void pack_formats_put(struct pack_formats_copying *c, const void *data, size_t len)
{
	if (!c->is_left_out)
		writer_bytes(c->out, data, len);
}

static void pack_formats_copy(struct pack_formats_copying *c, uint64_t len)
{
	if (len > cursor_left(&c->in)) {
		c->in.failed = true;
		return;
	}
	const uint8_t *bytes = cursor_take(&c->in, (size_t)len);
	if (bytes)
		pack_formats_put(c, bytes, (size_t)len);
}

static uint32_t copy_u32(struct pack_formats_copying *c)
{
	struct cursor before = c->in;
	uint32_t value = cursor_u32(&c->in);
	if (!c->in.failed)
		pack_formats_put(c, before.data + before.pos, sizeof(value));
	return value;
}

/* Copies a 64-bit size, and as many bytes after it. */
static void copy_sized(struct pack_formats_copying *c)
{
	struct cursor before = c->in;
	uint64_t value = cursor_u64(&c->in);
	if (!c->in.failed)
		pack_formats_put(c, before.data + before.pos, sizeof(value));
	pack_formats_copy(c, value);
}

/* Returns a string without consuming it, or NULL if it is not terminated. *bytes includes the NUL byte. */
static const char *peek_text(struct pack_formats_copying *c, size_t *bytes)
{
	const uint8_t *start = c->in.data + c->in.pos;
	const uint8_t *end = cursor_left(&c->in) ? memchr(start, 0, cursor_left(&c->in)) : NULL;
	c->in.failed = c->in.failed || !end;
	*bytes = end ? (size_t)(end - start) + 1 : 0;
	return end ? (const char *)start : NULL;
}

static bool is_users(const char *system)
{
	static const char *const made[] = {"probe", "kprobes", "uprobes", "synthetic"};
	for (size_t i = 0; system && i < ARRAY_LEN(made); i++)
		if (strncmp(system, made[i], strlen(made[i])) == 0)
			return true;
	return false;
}

static void copy_systems(struct pack_formats_copying *c)
{
	size_t count_at = c->out->len, bytes;
	uint32_t count = copy_u32(c), kept = 0;
	for (uint32_t i = 0; i < count && !c->in.failed; i++) {
		c->is_left_out = is_users(peek_text(c, &bytes));
		kept += !c->is_left_out;
		pack_formats_copy(c, bytes);
		uint32_t events = copy_u32(c);
		for (uint32_t n = 0; n < events && !c->in.failed; n++)
			copy_sized(c);
		c->is_left_out = false;
	}
	if (!c->out->failed && !c->in.failed)
		writer_patch_u32(c->out, count_at, kept);
}

bool pack_formats_scrub(struct tally_bytes tracing_data, struct writer *out)
{
	struct tracing_formats formats;
	if (!tracing_formats_open(&formats, tracing_data))
		return false;
	struct pack_formats_copying c = {.in = formats.at, .out = out};
	out->swap = formats.swap;
	/* Copies everything before the formats of the kernel's own (ftrace) events, including their number. */
	pack_formats_put(&c, tracing_data.data, formats.at.pos);
	for (uint32_t i = 0; i < formats.events && !c.in.failed; i++)
		copy_sized(&c);
	copy_systems(&c);
	writer_u32(out, 0); /* No kernel symbols. */
	writer_u32(out, 0); /* No strings of trace_printk. */
	writer_u64(out, 0); /* No thread names. */
	return !c.in.failed && !out->failed;
}

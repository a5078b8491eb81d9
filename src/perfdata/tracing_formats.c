/* SPDX-License-Identifier: Apache-2.0 */
#include "perfdata/tracing_formats.h"

#include <string.h>

#define MAGIC	      "\027\010\104tracing"
#define MAGIC_BYTES   (sizeof(MAGIC) - 1)
#define PAGE_SIZE_LEN 4

static struct tally_str take_string(struct cursor *c)
{
	struct cursor peek = *c;
	struct tally_str text = cursor_text(&peek, cursor_left(&peek));
	cursor_skip(c, text.len + 1);
	return text;
}

static struct tally_bytes take_sized(struct cursor *c, uint64_t size)
{
	return cursor_count(c, size, 1) ? cursor_bytes(c, (size_t)size) : (struct tally_bytes){NULL, 0};
}

/* Files of trace-cmd and perf's TRACING_DATA share this layout from the magic on. */
bool tracing_formats_open(struct tracing_formats *formats, struct tally_bytes tracing_data)
{
	struct cursor c = cursor_make(tracing_data, false);
	const uint8_t *magic = cursor_take(&c, MAGIC_BYTES);
	*formats = (struct tracing_formats){.system = STR("ftrace")};
	if (!magic || memcmp(magic, MAGIC, MAGIC_BYTES) != 0)
		return false;
	(void)take_string(&c); /* The version. */
	uint8_t is_big = cursor_u8(&c);
	const uint16_t probe = 1;
	bool host_is_big = *(const uint8_t *)&probe == 0;
	c.swap = formats->swap = (is_big != 0) != host_is_big;
	formats->long_bytes = cursor_u8(&c) == 4 ? 4 : 8;
	cursor_skip(&c, PAGE_SIZE_LEN + sizeof("header_page"));
	(void)take_sized(&c, cursor_u64(&c));
	cursor_skip(&c, sizeof("header_event"));
	(void)take_sized(&c, cursor_u64(&c));
	if (c.failed)
		return false;
	formats->events = cursor_u32(&c); /* Number of ftrace's own events. */
	formats->at = c;
	return true;
}

/* Moves to the next system with events; false if there is none. */
static bool enter_system(struct tracing_formats *f)
{
	if (!f->has_systems)
		f->systems = cursor_u32(&f->at);
	f->has_systems = true;
	while (f->events == 0 && f->systems > 0 && !f->at.failed) {
		f->systems--;
		f->system = take_string(&f->at);
		f->events = cursor_u32(&f->at);
	}
	return f->events > 0 && !f->at.failed;
}

bool tracing_formats_next(struct tracing_formats *f, struct tally_bytes *format)
{
	if (f->at.failed || (f->events == 0 && !enter_system(f)))
		return false;
	f->events--;
	*format = take_sized(&f->at, cursor_u64(&f->at));
	return !f->at.failed;
}

struct tally_bytes tracing_formats_file(struct tracing_formats *f)
{
	return take_sized(&f->at, cursor_u32(&f->at));
}

bool tracing_format_identify(struct tally_bytes format, uint64_t *id, struct tally_str *name)
{
	struct tally_str rest = {(const char *)format.data, format.len}, line;
	return str_next(&rest, '\n', &line) && str_starts_with(line, STR("name: ")) &&
	       (*name = str_trim((struct tally_str){line.data + 6, line.len - 6})).len > 0 &&
	       str_next(&rest, '\n', &line) && str_starts_with(line, STR("ID: ")) &&
	       str_to_u64(str_trim((struct tally_str){line.data + 4, line.len - 4}), 10, id);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "tracing_builder.h"

#include <stdio.h>
#include <string.h>

static const char header_page[] = "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"
				  "\tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;\n"
				  "\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n"
				  "\tfield: char data;\toffset:16;\tsize:4080;\tsigned:1;\n";

static void put_sized(struct writer *w, const char *text)
{
	writer_u64(w, strlen(text));
	writer_bytes(w, text, strlen(text));
}

static void put_list(struct writer *w, const char *const *texts, size_t room)
{
	size_t count = 0;
	while (count < room && texts[count])
		count++;
	writer_u32(w, (uint32_t)count);
	for (size_t i = 0; i < count; i++)
		put_sized(w, texts[i]);
}

static void put_text(struct writer *w, const char *text)
{
	size_t len = text ? strlen(text) : 0;
	writer_u32(w, (uint32_t)len);
	writer_bytes(w, text ? text : "", len);
}

void tracing_build(struct writer *w, const struct tracing_source *source)
{
	const uint16_t probe = 1;
	bool host_is_big = *(const uint8_t *)&probe == 0;
	w->swap = source->swap;
	writer_bytes(w, "\027\010\104tracing", 10);
	writer_bytes(w, "0.6", 4);
	writer_u8(w, source->swap != host_is_big);
	writer_u8(w, 8);
	writer_u32(w, 4096);
	writer_bytes(w, "header_page", sizeof("header_page"));
	put_sized(w, header_page);
	writer_bytes(w, "header_event", sizeof("header_event"));
	put_sized(w, "# compressed entry header\n");
	put_list(w, source->ftrace, 2);
	writer_u32(w, source->system ? 1 : 0);
	if (source->system) {
		writer_bytes(w, source->system, strlen(source->system) + 1);
		put_list(w, source->formats, 4);
	}
	put_text(w, source->kallsyms);
	put_text(w, source->printk_formats);
}

void tracing_format(char *to, size_t size, const char *name, unsigned id, const char *fields, const char *print)
{
	snprintf(to, size,
		"name: %s\nID: %u\nformat:\n"
		"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
		"\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"
		"\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"
		"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n%s\nprint fmt: %s\n",
		name, id, fields, print);
}

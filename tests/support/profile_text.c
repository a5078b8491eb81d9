/* SPDX-License-Identifier: Apache-2.0 */
#include "profile_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "unit_test.h"

/* Frames without symbol have the run-time address RUN_TIME_BASE + address. */
#define RUN_TIME_BASE UINT64_C(0x7f0000000000)

#define LONGEST 1024 /* Largest number of frames in a call chain. */

struct maker {
	struct profile_builder *builder;
	char *names[1024]; /* Functions seen so far; the index determines the start address. */
	size_t name_count;
	uint64_t order;
};

static uint32_t make_string(struct maker *m, const char *text)
{
	return profile_builder_string(m->builder, str_from(text));
}

static uint64_t function_start(struct maker *m, const char *name)
{
	size_t i = 0;
	while (i < m->name_count && strcmp(m->names[i], name))
		i++;
	if (i == m->name_count)
		m->names[m->name_count++] = strdup(name);
	return 0x1000 * (i + 1);
}

static uint32_t make_frame(struct maker *m, char *text)
{
	struct profile_frame frame = {.function = PROFILE_NONE, .binary = PROFILE_NONE, .level = PROFILE_LEVEL_USER};
	char *line = strchr(text, '#');
	if (line) {
		*line++ = 0;
		frame.own_line = (struct profile_place){make_string(m, line), make_string(m, strtok(line, ":"))};
		frame.innermost_line = frame.own_line;
	}
	char *binary = strchr(text, '@');
	if (binary) {
		*binary++ = 0;
		bool is_kernel = *binary == '[';
		uint32_t name = make_string(m, binary);
		frame.binary =
			profile_builder_binary(m->builder, &(struct profile_binary){name, name, is_kernel, name, 0});
		if (is_kernel)
			frame.level = PROFILE_LEVEL_KERNEL;
	}
	if (!strncmp(text, "0x", 2)) {
		frame.address = strtoull(text, NULL, 16);
		frame.raw_address = binary ? RUN_TIME_BASE + frame.address : frame.address;
	} else {
		frame.address = function_start(m, text);
		text[strcspn(text, "~")] = 0;
		frame.function =
			profile_builder_function(m->builder, &(struct profile_function){.name = make_string(m, text),
								     .binary = frame.binary,
								     .start = frame.address,
								     .size = 0x10});
	}
	return profile_builder_frame(m->builder, &frame);
}

static void make_event(struct maker *m, const char *name, uint32_t leader, uint32_t members)
{
	struct profile_event event = {
		.name = make_string(m, name), .leader = leader, .member_count = members, .has_callchain = true};
	profile_builder_event(m->builder, &event);
}

static void make_sample(struct maker *m, char *line)
{
	char comm[64], stack[4096];
	struct profile_thread thread = {0};
	struct profile_sample sample = {.count = 1, .stack = PROFILE_NONE, .first_order = m->order++};
	assert_int_equal(sscanf(line, "%63s %d/%d %d %u %lu %4095s", comm, &thread.pid, &thread.tid, &sample.cpu,
				 &sample.event, &sample.period, stack),
		7);
	char *last = strchr(comm, '>'); /* "sh>cc1" was "sh" at the time of the sample and "cc1" in the end. */
	if (last)
		*last++ = '\0';
	thread.comm = make_string(m, comm);
	thread.last_comm = last ? make_string(m, last) : thread.comm;
	thread.process_comm = thread.last_comm;
	sample.thread = profile_builder_thread(m->builder, &thread);
	bool has_chain = strchr(stack, ';') != NULL;
	uint32_t frames[LONGEST], first = LONGEST; /* Innermost frame first, filled from the end. */
	for (char *rest = stack, *frame; (frame = strsep(&rest, ";"));) {
		if (!*frame)
			continue;
		sample.leaf = make_frame(m, frame);
		assert_true(first > 0);
		frames[--first] = sample.leaf;
	}
	if (has_chain && first < LONGEST)
		sample.stack = profile_builder_stack(m->builder, frames + first, LONGEST - first);
	profile_builder_sample(m->builder, &sample);
}

static void make_line(struct maker *m, char *line, uint32_t *events)
{
	char *name;
	if (!strncmp(line, "event ", 6)) {
		make_event(m, line + 6, *events, 1);
		(*events)++;
	} else if (!strncmp(line, "group ", 6)) {
		uint32_t leader = *events, members = 1;
		for (const char *c = line + 6; *c; c++)
			members += *c == ' ';
		char *rest = line + 6;
		while ((name = strsep(&rest, " "))) {
			make_event(m, name, leader, *events == leader ? members : 0);
			(*events)++;
		}
	} else if (*line) {
		make_sample(m, line);
	}
}

struct profile *profile_from_text(const char *text)
{
	struct maker m = {.builder = profile_builder_create()};
	struct profile *profile = NULL;
	uint32_t events = 0;
	char *copy = strdup(text), *rest = copy, *line;
	assert_non_null(m.builder);
	assert_non_null(copy);
	while ((line = strsep(&rest, "\n")))
		make_line(&m, line, &events);
	struct tally_error err = {0};
	if (profile_builder_finish(m.builder, &profile, &err) != TALLY_OK)
		fail_msg("%s", err.text);
	for (size_t i = 0; i < m.name_count; i++)
		free(m.names[i]);
	free(copy);
	return profile;
}

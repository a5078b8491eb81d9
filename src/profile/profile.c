/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/profile.h"

#include <stdlib.h>

void profile_destroy(struct profile *profile)
{
	if (!profile)
		return;
	intern_deinit(&profile->strings);
	list_table_deinit(&profile->stacks);
	spool_deinit(&profile->row_spool);
	free(profile->events);
	free(profile->binaries);
	free(profile->functions);
	free(profile->frames);
	free(profile->threads);
	free(profile->samples);
	free(profile->fields);
	arena_deinit(profile->arena);
	free(profile->arena);
	free(profile);
}

/* Modifiers may follow the name, as in "cpu-clock:u". */
static bool profile_event_is_called(struct tally_str event, struct tally_str name)
{
	return str_starts_with(event, name) && (event.len == name.len || event.data[name.len] == ':');
}

bool profile_event_is_time(struct tally_str name)
{
	return profile_event_is_called(name, STR("cpu-clock")) || profile_event_is_called(name, STR("task-clock")) ||
	       profile_event_is_called(name, STR("wall-clock")) || profile_event_is_waiting(name);
}

bool profile_event_is_waiting(struct tally_str name)
{
	return profile_event_is_called(name, STR("offcpu-time"));
}

struct profile_line profile_frame_line(const struct profile *p, const struct profile_frame *frame)
{
	struct profile_line line = {.file = STR("")};
	struct tally_str text = profile_string(p, frame->own_line.line);
	struct tally_str file = profile_string(p, frame->own_line.file);
	size_t colon = text.len;
	while (colon > 0 && text.data[colon - 1] != ':')
		colon--;
	if (frame->own_line.line == frame->own_line.file || file.len == 0 || colon == 0)
		return line;
	if (!str_to_u64((struct tally_str){text.data + colon, text.len - colon}, 10, &line.number))
		return line;
	line.file = file;
	return line;
}

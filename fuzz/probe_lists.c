/* SPDX-License-Identifier: Apache-2.0 */
/*
 * probe_lists.c - parses arbitrary text as lines of the kernel's list of probes, and as name filters. A line that is
 * accepted can be printed and parsed again, with the same text; a filter can be applied to its own text.
 */
#include <stdlib.h>
#include <string.h>

#include "code/probing/probe_filter.h"
#include "kernel/probes/probe_event.h"

static void check_line(struct tally_str line, bool is_user)
{
	struct probe_event event, again;
	struct text first = {0}, second = {0};
	struct probe_event_argument argument;
	if (!probe_event_parse(line, is_user, &event))
		return;
	struct tally_str rest = event.arguments;
	while (probe_event_next_argument(&rest, &argument))
		if (argument.name.len + argument.text.len > line.len)
			abort();
	probe_event_print(&event, &first);
	/* Events of other kinds may have empty names, and then the printed text is not a valid line. */
	if (probe_event_parse(text_view(&first), is_user, &again)) {
		probe_event_print(&again, &second);
		if ((event.kind == 'p' || event.kind == 'r') && !str_equal(text_view(&first), text_view(&second)))
			abort();
	}
	(void)probe_event_matches(&event, line);
	text_deinit(&first);
	text_deinit(&second);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena arena;
	const struct probe_filter *filter;
	char *text = malloc(size + 1);
	if (!text)
		return 0;
	memcpy(text, data, size);
	text[size] = 0;
	const struct tally_str line = {text, size};
	check_line(line, true);
	check_line(line, false);
	arena_init(&arena);
	if (probe_filter_parse(text, &arena, &filter, NULL) == TALLY_OK)
		(void)probe_filter_fits(filter, line);
	arena_deinit(&arena);
	free(text);
	return 0;
}

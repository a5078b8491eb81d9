/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pfm_events.c - parses arbitrary text as lists of vendor event names, for a CPU model other than that of this
 * machine. The result is an error with a column inside the text and an empty list, or events with names and valid
 * leaders.
 */
#include "kernel/events/pfm_events.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "kernel/events/event_parser.h"

/* The library stays loaded for all inputs. */
static struct pfm_library *library;

static void clean_up(void)
{
	pfm_library_close(library);
}

static bool is_ready(void)
{
	static bool was_tried;
	if (!was_tried) {
		was_tried = true;
		setenv("LIBPFM_FORCE_PMU", "skl", 1);
		if (pfm_library_open(&library, NULL) != TALLY_OK)
			library = NULL;
		else
			atexit(clean_up);
	}
	return library != NULL;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct event_catalogue catalogue = {0};
	struct event_list list = {0};
	struct tally_error err = {0};
	char *text = is_ready() ? malloc(size + 1) : NULL;
	if (!text)
		return 0;
	memcpy(text, data, size);
	text[size] = '\0';
	if (pfm_events_parse(&catalogue, text, &list, &err) != TALLY_OK && (list.len != 0 || err.offset > size))
		abort();
	for (size_t i = 0; i < list.len; i++)
		if (!list.specs[i].name || list.specs[i].leader > i)
			abort();
	event_list_deinit(&list);
	free(text);
	return 0;
}

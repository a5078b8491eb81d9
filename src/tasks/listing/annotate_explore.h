/* SPDX-License-Identifier: Apache-2.0 */
/*
 * annotate_explore.h - runs annotate on a terminal: shows a function, and the functions that the user enters from it.
 *
 * It borrows everything in the request, and changes only the contents of the terminal.
 *
 *	struct annotate_explore request = {.terminal = terminal, .grid = &grid, .samples = &samples, .event_count = 1};
 *	status = annotate_explore(&request, target, &leaves, err);
 *	if (status == TALLY_NOT_FOUND) say(err.text);  // there is no code available: nothing was shown
 */
#ifndef TASKS_LISTING_ANNOTATE_EXPLORE_H
#define TASKS_LISTING_ANNOTATE_EXPLORE_H

#include "tasks/listing/annotate_listing.h"
#include "tasks/terminal/tui_terminal.h"
#include "view/tui/annotate_screen.h"

struct annotate_explore {
	struct tui_terminal *terminal;
	struct grid *grid;
	struct annotate_samples *samples;
	uint32_t first_event, event_count; /* side by side */
	struct annotate_settings settings; /* the initial settings; afterwards those of the last screen */
	bool is_intel;
	const char *objdump, *style; /* as annotate_listing_options has them */
	const char *prefix; /* of source files, as annotate_source_init has them */
	unsigned strip;
	/* For samples that are refreshed while they are shown: key waits for a key, or returns TUI_KEY_NONE when renew
	 * must be called. renew sets samples to the new ones, or to NULL if nothing changed. Both may be NULL: samples
	 * do not change. */
	uint32_t (*key)(void *data);
	enum tally_status (*renew)(void *data, struct annotate_samples **samples, struct tally_error *err);
	bool begins_anew; /* set by renew: the old samples are invalid, and first_event and event_count are the new ones */
	void (*tell)(void *data, char *room,
		size_t size); /* writes the text of the last line while there is no other message; may be NULL */
	void *data;
};

/* target NULL: the hottest function that has code. leaves: the user leaves the program. */
TALLY_MUST_CHECK enum tally_status annotate_explore(
	struct annotate_explore *request, const struct annotate_target *target, bool *leaves, struct tally_error *err);
/* A function by name and file, even if only its callees have samples, or no code of its file has any. NULL: there is
 * none, or out of memory. */
const struct annotate_target *annotate_explore_find(
	struct annotate_samples *samples, struct tally_str symbol, struct tally_str path, uint64_t start);

#endif

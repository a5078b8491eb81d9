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
	struct annotate_settings settings; /* to begin with; afterwards those of the last screen */
	bool is_intel;
	const char *objdump, *style; /* as annotate_listing_options has them */
	const char *prefix; /* of source files, as annotate_source_init has them */
	unsigned strip;
	/* For samples that are refreshed while they are shown: key waits for a key, or returns TUI_KEY_NONE when renew
	 * must be called. renew sets samples to the new ones, or to NULL if nothing changed. Both may be NULL: samples
	 * do not change. */
	uint32_t (*key)(void *data);
	enum tally_status (*renew)(void *data, struct annotate_samples **samples, struct tally_error *err);
	bool begins_anew; /* renew's: what was there is not held on to, these are first_event and event_count now */
	void (*tell)(void *data, char *room, size_t size); /* for the bottom line while nothing else is said; NULL */
	void *data;
};

/* NULL as target: the hottest function that has code. leaves: the user wants out of all. */
TALLY_MUST_CHECK enum tally_status annotate_explore(
	struct annotate_explore *request, const struct annotate_target *target, bool *leaves, struct tally_error *err);
/* A function by name and file, also one that only has callees with samples, or whose file has none. NULL: there is none, or memory runs out. */
const struct annotate_target *annotate_explore_find(
	struct annotate_samples *samples, struct tally_str symbol, struct tally_str path, uint64_t start);

#endif

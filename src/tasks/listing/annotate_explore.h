/* SPDX-License-Identifier: Apache-2.0 */
/*
 * annotate_explore.h - runs annotate on a terminal: shows a function, and the functions that the user enters from it.
 *
 * It borrows everything in the request, and changes only the contents of the terminal.
 *
 *	struct annotate_explore request = {.terminal = terminal, .grid = &grid, .samples = &samples, .event_count = 1};
 *	status = annotate_explore(&request, target, &leaves, err);
 *	if (status == TALLY_NOT_FOUND) say(err.text);  // no code is available, and nothing was shown
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
	uint32_t first_event, event_count; /* Events that are shown side by side. */
	struct annotate_settings settings; /* The initial settings; on return, those of the last screen. */
	bool is_intel; /* Instructions are shown in Intel's syntax, not in AT&T's. */
	const char *objdump, *style; /* See struct annotate_listing_options. */
	/* Prefix of source files, and number of removed path components; see annotate_source_init. */
	const char *prefix;
	unsigned strip;
	/* For samples that are refreshed while they are shown: key waits for a key, or returns TUI_KEY_NONE when it is
	 * time to call renew. renew sets samples to the new ones, or to NULL if nothing has changed. Both callbacks are
	 * NULL if the samples never change. */
	uint32_t (*key)(void *data);
	enum tally_status (*renew)(void *data, struct annotate_samples **samples, struct tally_error *err);
	/* Set by renew if the old samples are invalid; first_event and event_count then refer to the new ones. */
	bool begins_anew;
	/* Writes the text of the last line while there is no other message. May be NULL. */
	void (*tell)(void *data, char *room, size_t size);
	void *data;
};

/* Shows the target, or the hottest function with code if target is NULL. Sets leaves if the user quits the program. */
TALLY_MUST_CHECK enum tally_status annotate_explore(
	struct annotate_explore *request, const struct annotate_target *target, bool *leaves, struct tally_error *err);
/* Finds a function by name, file and start address, even if neither it nor any other code of its file has samples of
 * its own. Returns NULL if there is none, or if memory runs out. */
const struct annotate_target *annotate_explore_find(
	struct annotate_samples *samples, struct tally_str symbol, struct tally_str path, uint64_t start);

#endif

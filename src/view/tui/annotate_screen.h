/* SPDX-License-Identifier: Apache-2.0 */
/*
 * annotate_screen.h - holds the screen of an annotated function: which lines are visible, the cursor, and what keys do.
 * It does not draw or use a terminal; the caller opens other functions.
 *
 * It borrows the function, which must not change; the caller deinits. The cursor begins at the hottest line.
 *
 *	annotate_screen_init(&screen, &function, &settings, err);
 *	annotate_screen_resize(&screen, 24, 80);
 *	if (annotate_screen_key(&screen, '\r') == ANNOTATE_CALLS) open(screen.callee);
 *	annotate_screen_deinit(&screen);
 */
#ifndef VIEW_TUI_ANNOTATE_SCREEN_H
#define VIEW_TUI_ANNOTATE_SCREEN_H

#include <tally/status.h>

#include "view/text/annotate_lines.h"
#include "view/tui/tui_frame.h"

/* Which instructions have an offset: where jumps lead, calls and returns too, all. */
/* Before lines of source. */
enum annotate_places { ANNOTATE_NO_PLACES, ANNOTATE_NUMBERS, ANNOTATE_PATHS, ANNOTATE_PLACE_KINDS };

enum annotate_labels { ANNOTATE_LABEL_TARGETS, ANNOTATE_LABEL_CALLS, ANNOTATE_LABEL_ALL, ANNOTATE_LABEL_KINDS };

/* The appearance of lines, which is kept from one function to the next. */
struct annotate_settings {
	enum annotate_percent percent;
	enum annotate_column column;
	bool hides_source;
	bool is_disassembly; /* addresses and operands as objdump has them; else names, and offsets where jumps lead */
	enum annotate_labels labels;
	enum annotate_places places;
	bool shows_bytes; /* of instructions */
	bool is_absolute; /* addresses in place of offsets */
	bool counts_jumps; /* how many lead to a line */
	bool shows_cycle_range; /* least and most beside the average */
	bool shows_types; /* of the data that is accessed: the caller's to make */
	char pattern[TUI_INPUT_BYTES]; /* of the last search */
};

enum annotate_action {
	ANNOTATE_STAY,
	ANNOTATE_BACK,
	ANNOTATE_LEAVE,
	ANNOTATE_CALLS, /* the function at callee */
	ANNOTATE_RETURNS, /* to whoever called */
	ANNOTATE_NEXT, /* function */
	ANNOTATE_PREVIOUS,
	ANNOTATE_PRINTS,
	ANNOTATE_TYPES, /* make the function again, with or without types by shows_types */
	ANNOTATE_EVENTS /* show all events side by side, or the previous ones */
};

struct annotate_screen {
	const struct annotate_function *function;
	struct annotate_settings settings;
	struct tui_list list; /* over visible */
	uint32_t *visible; /* lines of the function */
	uint32_t *hot; /* lines with samples, the hottest first */
	size_t hot_count, hot_at;
	uint32_t *sources; /* by line: how many jumps lead there */
	struct tui_frame frame;
	uint64_t callee; /* as the function's own addresses count */
};

TALLY_MUST_CHECK enum tally_status annotate_screen_init(struct annotate_screen *s,
	const struct annotate_function *function, const struct annotate_settings *settings, struct tally_error *err);
void annotate_screen_deinit(struct annotate_screen *s);
void annotate_screen_resize(struct annotate_screen *s, unsigned rows, unsigned columns);
enum annotate_action annotate_screen_key(struct annotate_screen *s, uint32_t key);
/* Call it after settings were changed: updates the visible lines and the order by heat. The cursor stays on its
 * line. */
void annotate_screen_update(struct annotate_screen *s);
/* The same code with other values: nothing moves. After a failure the old function stays. */
TALLY_MUST_CHECK enum tally_status annotate_screen_renew(
	struct annotate_screen *s, const struct annotate_function *function, struct tally_error *err);
/* To the instruction at this address, if there is one. */
void annotate_screen_go(struct annotate_screen *s, uint64_t address);
/* The cursor's line; NULL: there is none. */
const struct annotate_line *annotate_screen_line(const struct annotate_screen *s);
const struct tui_help *annotate_screen_help(size_t *count);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * annotate_screen.h - implements the screen of an annotated function: its visible lines, the cursor, and keys. It does
 * not draw or use a terminal; the caller opens other functions.
 *
 * It borrows the function, which must not change; the caller calls annotate_screen_deinit. The cursor starts at the
 * hottest line.
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

/* What is displayed before source lines: nothing, line numbers, or paths with line numbers. */
enum annotate_places { ANNOTATE_NO_PLACES, ANNOTATE_NUMBERS, ANNOTATE_PATHS, ANNOTATE_PLACE_KINDS };

/* Instructions that are displayed with an offset: targets of jumps, these and calls, or all. */
enum annotate_labels { ANNOTATE_LABEL_TARGETS, ANNOTATE_LABEL_CALLS, ANNOTATE_LABEL_ALL, ANNOTATE_LABEL_KINDS };

/* Appearance of lines, which is kept when another function is opened. */
struct annotate_settings {
	enum annotate_percent percent;
	enum annotate_column column;
	bool hides_source;
	/* Display addresses and operands as printed by objdump; otherwise names, and offsets at jump targets. */
	bool is_disassembly;
	enum annotate_labels labels;
	enum annotate_places places;
	bool shows_bytes; /* Display the bytes of instructions. */
	bool is_absolute; /* Display addresses instead of offsets. */
	bool counts_jumps; /* Display how many jumps lead to a line. */
	bool shows_cycle_range; /* Display minimum and maximum cycles with the average. */
	bool shows_types; /* Display the types of accessed data, which the caller must provide. */
	char pattern[TUI_INPUT_BYTES]; /* Pattern of the last search. */
};

enum annotate_action {
	ANNOTATE_STAY,
	ANNOTATE_BACK,
	ANNOTATE_LEAVE,
	ANNOTATE_CALLS, /* Open the function at callee. */
	ANNOTATE_RETURNS, /* Return to the calling function. */
	ANNOTATE_NEXT, /* Open the next function. */
	ANNOTATE_PREVIOUS,
	ANNOTATE_PRINTS,
	ANNOTATE_TYPES, /* Rebuild the function, with types if shows_types is set. */
	ANNOTATE_EVENTS /* Display all events side by side, or the previous ones again. */
};

struct annotate_screen {
	const struct annotate_function *function;
	struct annotate_settings settings;
	struct tui_list list; /* Scrolls over visible. */
	uint32_t *visible; /* Indexes of the function's visible lines. */
	uint32_t *hot; /* Lines with samples, hottest first. */
	size_t hot_count, hot_at;
	uint32_t *sources; /* Number of jumps that lead to each line. */
	struct tui_frame frame;
	/* Address of the function for ANNOTATE_CALLS, in the address space of the displayed function. */
	uint64_t callee;
};

TALLY_MUST_CHECK enum tally_status annotate_screen_init(struct annotate_screen *s,
	const struct annotate_function *function, const struct annotate_settings *settings, struct tally_error *err);
void annotate_screen_deinit(struct annotate_screen *s);
void annotate_screen_resize(struct annotate_screen *s, unsigned rows, unsigned columns);
enum annotate_action annotate_screen_key(struct annotate_screen *s, uint32_t key);
/* Updates the visible lines and the order by heat after a change of settings. The cursor stays on its line. */
void annotate_screen_update(struct annotate_screen *s);
/* Replaces the function by the same code with other values, without moving anything. After a failure, the old function
 * stays. */
TALLY_MUST_CHECK enum tally_status annotate_screen_renew(
	struct annotate_screen *s, const struct annotate_function *function, struct tally_error *err);
/* Moves the cursor to the instruction at this address, if there is one. */
void annotate_screen_go(struct annotate_screen *s, uint64_t address);
/* Returns the line at the cursor; NULL if there is none. */
const struct annotate_line *annotate_screen_line(const struct annotate_screen *s);
const struct tui_help *annotate_screen_help(size_t *count);

#endif

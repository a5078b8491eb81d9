/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tui_frame.h - implements what all screens have in common: their size, the bottom line with questions, messages or
 * keys, the list of keys, and text search. The screens for pages, trees, flames and code each contain a frame.
 *
 *	if (!tui_frame_takes(&s->frame, &(struct tui_frame_owner){s, help_count, search}, key, &leaves))
 *		... the key is the screen's own ...
 */
#ifndef VIEW_TUI_TUI_FRAME_H
#define VIEW_TUI_TUI_FRAME_H

#include "view/tui/tui_input.h"
#include "view/tui/tui_line.h"
#include "view/tui/tui_list.h"

#define TUI_PLACE_BYTES 48

enum tui_frame_mode { TUI_BROWSE, TUI_SEARCH, TUI_SEARCH_BACK, TUI_FILTER, TUI_HELP };

struct tui_frame {
	unsigned rows, columns; /* Size of the screen. */
	unsigned shift; /* Number of columns scrolled out to the left. */
	enum tui_frame_mode mode;
	size_t help_top;
	struct tui_input input;
	char pattern[TUI_INPUT_BYTES]; /* Pattern of the last search; empty if there was none. */
	char filter[TUI_INPUT_BYTES]; /* Text that visible items contain; empty if all are visible. */
	char message[TUI_MESSAGE_BYTES]; /* Displayed on the bottom line until the next key; empty for none. */
};

struct tui_frame_owner { /* The screen that contains the frame. */
	void *data;
	size_t help_count; /* Number of lines of the list of keys; 0 if the screen has none. */
	void (*search)(void *data, bool is_back); /* Searches for the pattern, starting at the cursor. */
	void (*filter)(void *data); /* Applies a new filter; NULL if there is no filter, so that '/' searches. */
};

#define TUI_FRAME_START                    \
	{                                  \
		.rows = 24, .columns = 80, \
	}

/* Handles a key. Returns false if the screen must handle it. *leaves is set to true if the user leaves the program. */
bool tui_frame_takes(struct tui_frame *f, const struct tui_frame_owner *owner, uint32_t key, bool *leaves);
/* tui_frame_ask prompts for a search text, tui_frame_help displays the list of keys, both until the user closes
 * them. */
void tui_frame_ask(struct tui_frame *f, bool is_back);
void tui_frame_help(struct tui_frame *f);
void tui_frame_scroll(struct tui_frame *f, bool is_right);
void tui_frame_say(struct tui_frame *f, const char *format, ...) TALLY_PRINTF(2, 3);

/* Displays a message for an unknown key. Changes of the terminal size and requests to redraw the screen are ignored. */
void tui_frame_refuse(struct tui_frame *f, uint32_t key, char help_key);

struct tui_search {
	const void *of;
	bool (*has)(const void *of, size_t at, const char *pattern);
	size_t count;
	size_t from; /* Position of the cursor; count if there is none. */
	const char *what; /* Name of an item in messages, such as "line". */
};
/* Finds the next match after or before the cursor, and displays a message if it wraps around. Returns false, with a
 * message, if there is no match. */
bool tui_frame_find(struct tui_frame *f, const struct tui_search *search, bool is_back, size_t *at);

/* Clears the grid and sets it to the screen's size. Returns false when out of memory. */
TALLY_MUST_CHECK bool tui_frame_clear(const struct tui_frame *f, struct grid *grid);

struct tui_bottom { /* The bottom line while there is no question or message. */
	const char *const *hints;
	size_t hint_count;
	const char *idle; /* Displayed instead of the hints; NULL for the hints. */
	struct tally_str place; /* Displayed on the right. */
};
void tui_frame_put_bottom(
	const struct tui_frame *f, const struct tui_bottom *bottom, struct grid *grid, struct text *scratch);
/* Returns the position of a list's cursor, such as " 12/345". */
struct tally_str tui_place(const struct tui_list *list, char room[TUI_PLACE_BYTES]);

#endif

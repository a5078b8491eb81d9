/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tui_frame.h - implements what all screens share: their size, the bottom line with questions, messages or keys, the
 * list of keys, and text search. The screens for pages, trees, flames and code each contain one.
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
	unsigned rows, columns; /* of the screen */
	unsigned shift; /* columns scrolled out to the left */
	enum tui_frame_mode mode;
	size_t help_top;
	struct tui_input input;
	char pattern[TUI_INPUT_BYTES]; /* of the last search; empty: there was none */
	char filter[TUI_INPUT_BYTES]; /* the text that visible items contain; empty: all are visible */
	char message[TUI_MESSAGE_BYTES]; /* on the bottom line until the next key; empty: none */
};

struct tui_frame_owner { /* the screen */
	void *data;
	size_t help_count; /* lines of tui_frame_put_help; 0: the screen has none */
	void (*search)(void *data, bool is_back); /* the pattern is to be found, from the cursor on */
	void (*filter)(void *data); /* applies a new filter; NULL: there is no filter, and '/' searches */
};

#define TUI_FRAME_START                    \
	{                                  \
		.rows = 24, .columns = 80, \
	}

/* False: the screen must handle the key. leaves: set to true if the user leaves the program. */
bool tui_frame_takes(struct tui_frame *f, const struct tui_frame_owner *owner, uint32_t key, bool *leaves);
/* Asks for a text to search, or shows the list of keys, until a key ends that. */
void tui_frame_ask(struct tui_frame *f, bool is_back);
void tui_frame_help(struct tui_frame *f);
void tui_frame_scroll(struct tui_frame *f, bool is_right);
void tui_frame_say(struct tui_frame *f, const char *format, ...) TALLY_PRINTF(2, 3);

/* For a key that the screen does not have. A new size of the terminal and a request to redraw it are none of those. */
void tui_frame_refuse(struct tui_frame *f, uint32_t key, char help_key);

struct tui_search {
	const void *of;
	bool (*has)(const void *of, size_t at, const char *pattern);
	size_t count;
	size_t from; /* where the cursor is; count: nowhere */
	const char *what; /* is searched, in a sentence: "line" */
};
/* Finds the next match after or before the cursor, and says so if it wraps around. False: there is no match, which
 * it also says. */
bool tui_frame_find(struct tui_frame *f, const struct tui_search *search, bool is_back, size_t *at);

/* The grid in the screen's size, and empty. False: out of memory. */
TALLY_MUST_CHECK bool tui_frame_clear(const struct tui_frame *f, struct grid *grid);

struct tui_bottom { /* the last line while there is no question or message */
	const char *const *hints;
	size_t hint_count;
	const char *idle; /* in place of the hints; NULL: they show */
	struct tally_str place; /* on the right */
};
void tui_frame_put_bottom(
	const struct tui_frame *f, const struct tui_bottom *bottom, struct grid *grid, struct text *scratch);
/* " 12/345" of a list's cursor. */
struct tally_str tui_place(const struct tui_list *list, char room[TUI_PLACE_BYTES]);

#endif

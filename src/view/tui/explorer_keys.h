/* SPDX-License-Identifier: Apache-2.0 */
/*
 * explorer_keys.h - handles the keys of an explorer, and lists them for the help screen. It uses no terminal.
 *
 * A key that concerns more than one table returns an action for the caller.
 *
 *	switch (explorer_key(&e, 'q')) { case EXPLORER_QUIT: ... }
 */
#ifndef VIEW_TUI_EXPLORER_KEYS_H
#define VIEW_TUI_EXPLORER_KEYS_H

#include "view/tui/explorer_state.h"
#include "view/tui/tui_line.h"

enum explorer_action {
	EXPLORER_STAY,
	EXPLORER_QUIT,
	EXPLORER_NEXT_EVENT,
	EXPLORER_PREVIOUS_EVENT,
	EXPLORER_PRINT,
	EXPLORER_ANNOTATE,
	EXPLORER_ORDER, /* Sort by e->order. */
	EXPLORER_SORT, /* Group rows by the keys in e->input. */
	/* EXPLORER_TOP_DOWN, EXPLORER_CALLERS and EXPLORER_FLAME open other views of the same samples. */
	EXPLORER_TOP_DOWN,
	EXPLORER_CALLERS,
	EXPLORER_FLAME,
	EXPLORER_HEADER,
	EXPLORER_HEALTH,
};

enum explorer_action explorer_key(struct explorer *e, uint32_t key);
const struct tui_help *explorer_help(size_t *count);
/* Copies the lines of explorer_help to `to`, without those of the given keys, which have another or no effect on the
 * caller's screen. `to` must have space for all lines. Returns the number of copied lines. */
size_t explorer_help_without(const char *keys, struct tui_help *to);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * explorer_keys.h - handles the keys of an explorer, and lists them for the help screen. Pure: no terminal.
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
	EXPLORER_ORDER, /* by e->order */
	EXPLORER_SORT, /* rows by the keys in e->input */
	EXPLORER_TOP_DOWN, /* other views of the same samples */
	EXPLORER_CALLERS,
	EXPLORER_FLAME,
	EXPLORER_HEADER,
	EXPLORER_HEALTH,
};

enum explorer_action explorer_key(struct explorer *e, uint32_t key);
const struct tui_help *explorer_help(size_t *count);
/* The lines without those of these keys, which do something else on the caller's screen, or nothing. to: room for as many
 * as explorer_help has; returns how many there are. */
size_t explorer_help_without(const char *keys, struct tui_help *to);

#endif

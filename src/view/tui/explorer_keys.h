/*
 * explorer_keys.h - what a key does to an explorer, and the list of keys that help shows. Pure: no terminal.
 *
 * What reaches beyond one table is handed back as an action for the caller.
 *
 *	switch (explorer_key(&e, 'q')) { case EXPLORER_QUIT: ... }
 */
#ifndef VIEW_TUI_EXPLORER_KEYS_H
#define VIEW_TUI_EXPLORER_KEYS_H

#include "view/tui/explorer_state.h"

/* Keys that are characters are their code points; the others lie behind all of Unicode. */
enum explorer_key_code {
	TUI_KEY_NONE = 0x110000, /* nothing was pressed */
	TUI_KEY_UP,
	TUI_KEY_DOWN,
	TUI_KEY_LEFT,
	TUI_KEY_RIGHT,
	TUI_KEY_PAGE_UP,
	TUI_KEY_PAGE_DOWN,
	TUI_KEY_HOME,
	TUI_KEY_END,
	TUI_KEY_BACKSPACE,
	TUI_KEY_BACK_TAB,
	TUI_KEY_F1,
	TUI_KEY_RESIZE,
	TUI_KEY_CLOSED, /* the terminal is gone */
	TUI_KEY_OTHER,
};
#define TUI_KEY_ESCAPE	     27
#define TUI_KEY_CTRL(letter) ((letter) - 'a' + 1)

enum explorer_action { EXPLORER_STAY, EXPLORER_QUIT, EXPLORER_NEXT_EVENT, EXPLORER_PREVIOUS_EVENT, EXPLORER_PRINT };

struct explorer_help { /* keys NULL: a heading */
	const char *keys, *what;
};

enum explorer_action explorer_key(struct explorer *e, uint32_t key);
const struct explorer_help *explorer_help(size_t *count);

#endif

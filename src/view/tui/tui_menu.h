/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tui_menu.h - shows a menu; each of its items stands for a key. The menu is drawn over the screen.
 *
 *	tui_menu_start(&menu, "main");
 *	tui_menu_add(&menu, 'a', "Annotate %s", "main");
 *	uint32_t chosen = tui_menu_key(&menu, key);
 *	if (chosen == TUI_KEY_ESCAPE) close(); else if (chosen != TUI_KEY_NONE) press(chosen);
 */
#ifndef VIEW_TUI_TUI_MENU_H
#define VIEW_TUI_TUI_MENU_H

#include "view/tui/grid.h"
#include "view/tui/tui_list.h"

#define TUI_MENU_ENTRIES 48
#define TUI_LABEL_BYTES	 100

struct tui_menu_entry {
	uint32_t key;
	char label[TUI_LABEL_BYTES];
};

struct tui_menu {
	char title[TUI_LABEL_BYTES];
	struct tui_menu_entry entries[TUI_MENU_ENTRIES];
	struct tui_list list;
	unsigned row, column, width; /* of the first entry, as drawn on a screen of this size */
};

void tui_menu_start(struct tui_menu *menu, const char *title);
/* The key is shown before what it does if it can be typed. What does not fit in is left out. */
void tui_menu_add(struct tui_menu *menu, uint32_t key, const char *format, ...) TALLY_PRINTF(3, 4);
/* Call it after all entries were added, and when the screen's size has changed. */
void tui_menu_fit(struct tui_menu *menu, unsigned rows, unsigned columns);
/* The key that was chosen; TUI_KEY_NONE: none yet; TUI_KEY_ESCAPE: the menu is left. */
uint32_t tui_menu_key(struct tui_menu *menu, uint32_t key);
void tui_menu_put(const struct tui_menu *menu, struct grid *grid);

#endif

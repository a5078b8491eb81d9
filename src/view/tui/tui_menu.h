/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tui_menu.h - implements a menu in which each item stands for a key. It is drawn over the screen.
 *
 *	tui_menu_start(&menu, "main");
 *	tui_menu_add(&menu, 'a', "Annotate %s", "main"); tui_menu_fit(&menu, 24, 80);
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
	/* Position of the first entry, and width, on a screen of the size given to tui_menu_fit. */
	unsigned row, column, width;
};

void tui_menu_start(struct tui_menu *menu, const char *title);
/* Adds an entry. A key that can be typed is displayed before its description. Entries beyond TUI_MENU_ENTRIES are
 * dropped. */
void tui_menu_add(struct tui_menu *menu, uint32_t key, const char *format, ...) TALLY_PRINTF(3, 4);
/* Positions the menu. Call it after all entries were added, and after changes of the screen size. */
void tui_menu_fit(struct tui_menu *menu, unsigned rows, unsigned columns);
/* Handles a key and returns the chosen one; TUI_KEY_NONE if none was chosen yet, TUI_KEY_ESCAPE if the menu was
 * left. */
uint32_t tui_menu_key(struct tui_menu *menu, uint32_t key);
void tui_menu_put(const struct tui_menu *menu, struct grid *grid);

#endif

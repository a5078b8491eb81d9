/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tui_list.h - tracks a scrolled list: which lines are visible, and which one has the cursor.
 *
 *	struct tui_list list = {.count = 1000, .page = 20};
 *	tui_list_move(&list, 5);
 *	for (size_t i = list.top; i < list.count && i < list.top + list.page; i++) ...
 */
#ifndef VIEW_TUI_TUI_LIST_H
#define VIEW_TUI_TUI_LIST_H

#include <stddef.h>

#include "view/tui/tui_keys.h"

#define TUI_WHEEL_LINES 3

struct tui_list {
	size_t count, cursor, top;
	unsigned page; /* lines that fit */
};

/* Call it after count or page changed: moves the cursor to a valid line on the screen. */
void tui_list_settle(struct tui_list *list);
void tui_list_move(struct tui_list *list, long lines);
/* The line becomes the cursor's; in the middle of the screen if it was not on it. */
void tui_list_go(struct tui_list *list, size_t line);
/* Arrows, vi keys, pages, both ends, the wheel, a click below first_row. False: it is another key. */
bool tui_list_key(struct tui_list *list, uint32_t key, unsigned first_row);

#endif

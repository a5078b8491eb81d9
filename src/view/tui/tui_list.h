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
	unsigned page; /* Number of lines that fit on the screen. */
};

/* Moves the cursor to a valid line that is on the screen. Call it after count or page changed. */
void tui_list_settle(struct tui_list *list);
void tui_list_move(struct tui_list *list, long lines);
/* Moves the cursor to a line, which is scrolled to the middle of the screen if it was not visible. */
void tui_list_go(struct tui_list *list, size_t line);
/* Handles arrows, vi keys, page keys, Home and End, the wheel, and clicks below first_row. Returns false for any other
 * key. */
bool tui_list_key(struct tui_list *list, uint32_t key, unsigned first_row);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#include "view/tui/tui_list.h"

#include "base/array.h"

void tui_list_settle(struct tui_list *list)
{
	size_t page = list->page ? list->page : 1, last = list->count > page ? list->count - page : 0;
	if (list->cursor >= list->count)
		list->cursor = list->count ? list->count - 1 : 0;
	if (list->top > list->cursor)
		list->top = list->cursor;
	if (list->cursor - list->top >= page)
		list->top = list->cursor - page + 1;
	if (list->top > last)
		list->top = last;
}

void tui_list_move(struct tui_list *list, long lines)
{
	size_t far = lines < 0 ? (size_t)-lines : (size_t)lines;
	if (lines < 0)
		list->cursor -= MIN(far, list->cursor);
	else if (list->count)
		list->cursor = far < list->count - list->cursor ? list->cursor + far : list->count - 1;
	tui_list_settle(list);
}

void tui_list_go(struct tui_list *list, size_t line)
{
	bool is_shown = line >= list->top && line - list->top < list->page;
	list->cursor = line;
	if (!is_shown)
		list->top = line > list->page / 2 ? line - list->page / 2 : 0;
	tui_list_settle(list);
}

static bool tui_list_mouse_key(struct tui_list *list, uint32_t key, unsigned first_row)
{
	unsigned row = tui_mouse_row(key);
	switch (tui_mouse_act(key)) {
	case TUI_MOUSE_WHEEL_UP:
		tui_list_move(list, -TUI_WHEEL_LINES);
		return true;
	case TUI_MOUSE_WHEEL_DOWN:
		tui_list_move(list, TUI_WHEEL_LINES);
		return true;
	case TUI_MOUSE_CLICK:
		if (row >= first_row && row - first_row < list->page && list->top + (row - first_row) < list->count)
			list->cursor = list->top + (row - first_row);
		return true;
	case TUI_MOUSE_DOUBLE:
		break;
	}
	return false;
}

bool tui_list_key(struct tui_list *list, uint32_t key, unsigned first_row)
{
	if (tui_is_mouse(key))
		return tui_list_mouse_key(list, key, first_row);
	switch (key) {
	case TUI_KEY_UP:
	case 'k':
		tui_list_move(list, -1);
		return true;
	case TUI_KEY_DOWN:
	case 'j':
		tui_list_move(list, 1);
		return true;
	case TUI_KEY_PAGE_UP:
	case TUI_KEY_CTRL('b'):
		tui_list_move(list, -(long)list->page);
		return true;
	case TUI_KEY_PAGE_DOWN:
	case TUI_KEY_CTRL('f'):
	case ' ':
		tui_list_move(list, (long)list->page);
		return true;
	case TUI_KEY_HOME:
	case 'g':
		tui_list_go(list, 0);
		return true;
	case TUI_KEY_END:
	case 'G':
		tui_list_go(list, list->count ? list->count - 1 : 0);
		return true;
	default:
		return false;
	}
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "view/tui/tui_menu.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"

#define KEY_COLUMNS 3

void tui_menu_start(struct tui_menu *menu, const char *title)
{
	*menu = (struct tui_menu){0};
	snprintf(menu->title, sizeof(menu->title), "%s", title);
}

void tui_menu_add(struct tui_menu *menu, uint32_t key, const char *format, ...)
{
	va_list arguments;
	if (menu->list.count == TUI_MENU_ENTRIES)
		return;
	struct tui_menu_entry *entry = &menu->entries[menu->list.count++];
	entry->key = key;
	va_start(arguments, format);
	vsnprintf(entry->label, sizeof(entry->label), format, arguments);
	va_end(arguments);
}

static unsigned columns_of(const char *text)
{
	struct tally_str rest = str_from(text);
	unsigned columns = 0;
	while (rest.len > 0) {
		unsigned width;
		(void)grid_next_character(&rest, &width);
		columns += width;
	}
	return columns;
}

void tui_menu_fit(struct tui_menu *menu, unsigned rows, unsigned columns)
{
	/* The screen's title and bottom line remain visible, and the frame takes two rows. */
	unsigned room = rows > 5 ? rows - 4 : 1;
	menu->list.page = menu->list.count < room ? (unsigned)menu->list.count : room;
	menu->width = columns_of(menu->title) + 2;
	for (size_t i = 0; i < menu->list.count; i++) {
		unsigned width = columns_of(menu->entries[i].label) + KEY_COLUMNS + 1;
		menu->width = MAX(width, menu->width);
	}
	if (menu->width + 2 > columns)
		menu->width = columns > 2 ? columns - 2 : 0;
	menu->column = (columns - menu->width) / 2;
	menu->row = rows > menu->list.page ? (rows - menu->list.page) / 2 : 0;
	tui_list_settle(&menu->list);
}

static bool tui_menu_is_inside(const struct tui_menu *menu, uint32_t key)
{
	unsigned row = tui_mouse_row(key), column = tui_mouse_column(key);
	return row >= menu->row && row - menu->row < menu->list.page && column >= menu->column &&
	       column - menu->column < menu->width;
}

uint32_t tui_menu_key(struct tui_menu *menu, uint32_t key)
{
	bool is_press =
		tui_is_mouse(key) && (tui_mouse_act(key) == TUI_MOUSE_CLICK || tui_mouse_act(key) == TUI_MOUSE_DOUBLE);
	if (key == 'q' || key == TUI_KEY_ESCAPE || key == 'm' || key == TUI_KEY_LEFT)
		return TUI_KEY_ESCAPE;
	if (is_press && !tui_menu_is_inside(menu, key))
		return TUI_KEY_ESCAPE;
	if (is_press) {
		tui_list_go(&menu->list, menu->list.top + tui_mouse_row(key) - menu->row);
		return menu->entries[menu->list.cursor].key;
	}
	if ((tui_is_enter(key) || key == TUI_KEY_RIGHT) && menu->list.count)
		return menu->entries[menu->list.cursor].key;
	(void)tui_list_key(&menu->list, key, menu->row);
	return TUI_KEY_NONE;
}

static void put_edge(struct grid *grid, unsigned row, unsigned column, unsigned width, const char *ends)
{
	/* Each box-drawing character takes three bytes. */
	column = grid_put(grid, row, column, (struct tally_str){ends, 3}, GRID_PLAIN);
	for (unsigned i = 0; i < width; i++)
		column = grid_put(grid, row, column, STR("─"), GRID_PLAIN);
	grid_put(grid, row, column, (struct tally_str){ends + 3, 3}, GRID_PLAIN);
}

static void tui_menu_put_entry(const struct tui_menu *menu, struct grid *grid, size_t index, unsigned row)
{
	char text[TUI_LABEL_BYTES + 8];
	const struct tui_menu_entry *entry = &menu->entries[index];
	unsigned style = index == menu->list.cursor ? GRID_PLAIN | GRID_SELECTED : GRID_PLAIN;
	unsigned column = menu->column, end = menu->column + menu->width;
	snprintf(text, sizeof(text), "%c  %s", entry->key > ' ' && entry->key < 0x7f ? (char)entry->key : ' ',
		entry->label);
	struct tally_str rest = str_from(text);
	grid_put(grid, row, column - 1, STR("│"), GRID_PLAIN);
	for (unsigned i = menu->column; i < end; i++)
		grid_put(grid, row, i, STR(" "), style);
	while (rest.len > 0) {
		struct tally_str one = rest;
		unsigned width;
		(void)grid_next_character(&rest, &width);
		if (column + width > end)
			break;
		one.len -= rest.len;
		column = grid_put(grid, row, column, one, style);
	}
	grid_put(grid, row, end, STR("│"), GRID_PLAIN);
}

void tui_menu_put(const struct tui_menu *menu, struct grid *grid)
{
	unsigned left = menu->column - 1;
	if (menu->width == 0 || menu->row == 0 || menu->row + menu->list.page >= grid->rows)
		return;
	put_edge(grid, menu->row - 1, left, menu->width, "┌┐");
	struct tally_str title = str_from(menu->title);
	if (columns_of(menu->title) <= menu->width)
		grid_put(grid, menu->row - 1, menu->column + 1, title, GRID_HEADER);
	for (unsigned i = 0; i < menu->list.page; i++)
		tui_menu_put_entry(menu, grid, menu->list.top + i, menu->row + i);
	put_edge(grid, menu->row + menu->list.page, left, menu->width, "└┘");
}

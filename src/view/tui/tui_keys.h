/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tui_keys.h - represents keys and clicks as one number each, which a terminal passes to screens. It uses no terminal.
 *
 * Keys that are characters are their code points; other keys have numbers above all code points, and those of the mouse
 * include the position.
 *
 *	uint32_t key = tui_mouse(TUI_MOUSE_CLICK, 3, 10);
 *	if (tui_is_mouse(key) && tui_mouse_row(key) == 3) ...
 */
#ifndef VIEW_TUI_TUI_KEYS_H
#define VIEW_TUI_TUI_KEYS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/array.h"

enum tui_key {
	TUI_KEY_NONE = 0x110000, /* No key was pressed. */
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
	TUI_KEY_CLOSED, /* The terminal was closed. */
	TUI_KEY_OTHER,
};
#define TUI_KEY_ESCAPE	     27
#define TUI_KEY_CTRL(letter) ((letter) - 'a' + 1)

enum tui_mouse_act { TUI_MOUSE_CLICK, TUI_MOUSE_DOUBLE, TUI_MOUSE_WHEEL_UP, TUI_MOUSE_WHEEL_DOWN };
#define TUI_MOUSE_FLAG UINT32_C(0x80000000)
#define TUI_MOUSE_CELL 0x3fffu /* Maximum row and column; larger ones are reduced to it. */

static inline uint32_t tui_mouse(enum tui_mouse_act act, unsigned row, unsigned column)
{
	row = MIN(row, TUI_MOUSE_CELL);
	column = MIN(column, TUI_MOUSE_CELL);
	return TUI_MOUSE_FLAG | (uint32_t)act << 28 | row << 14 | column;
}
static inline bool tui_is_mouse(uint32_t key)
{
	return key & TUI_MOUSE_FLAG;
}
static inline enum tui_mouse_act tui_mouse_act(uint32_t key)
{
	return (enum tui_mouse_act)(key >> 28 & 3);
}
static inline unsigned tui_mouse_row(uint32_t key)
{
	return key >> 14 & TUI_MOUSE_CELL;
}
static inline unsigned tui_mouse_column(uint32_t key)
{
	return key & TUI_MOUSE_CELL;
}
static inline bool tui_is_enter(uint32_t key)
{
	return key == '\r' || key == '\n';
}

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * text_screen.h - displays a page of text that can be scrolled and searched, such as a header or a recording's health.
 * It uses no terminal.
 *
 * It owns its text; the caller calls text_screen_deinit.
 *
 *	text_screen_init(&page, "Header", &text, err);  // takes over the contents of text
 *	text_screen_resize(&page, 24, 80);
 *	if (text_screen_key(&page, 'q') == TEXT_SCREEN_BACK) ...
 *	text_screen_deinit(&page);
 */
#ifndef VIEW_TUI_TEXT_SCREEN_H
#define VIEW_TUI_TEXT_SCREEN_H

#include <tally/status.h>

#include "base/vec.h"
#include "view/tui/tui_frame.h"

enum text_screen_action { TEXT_SCREEN_STAY, TEXT_SCREEN_BACK, TEXT_SCREEN_LEAVE };

struct text_screen {
	const char *title;
	struct text text;
	VEC(struct tally_str) lines;
	struct tui_list list;
	struct tui_frame frame;
};

TALLY_MUST_CHECK enum tally_status text_screen_init(
	struct text_screen *s, const char *title, struct text *text, struct tally_error *err);
void text_screen_deinit(struct text_screen *s);
void text_screen_resize(struct text_screen *s, unsigned rows, unsigned columns);
enum text_screen_action text_screen_key(struct text_screen *s, uint32_t key);
/* Returns false when out of memory. */
bool text_screen_draw(const struct text_screen *s, struct grid *grid);

#endif

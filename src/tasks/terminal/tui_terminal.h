/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tui_terminal.h - controls the terminal of the interactive report with ncursesw: shows a grid, reads keys. It is the
 * only module that uses ncursesw.
 *
 * Only one terminal can be open. When the program ends, even by a crash, the terminal is restored; Ctrl-Z returns it to
 * the shell temporarily. In a build without ncursesw, no terminal is usable.
 *
 *	struct tui_terminal *terminal;
 *	if (tui_terminal_open(&terminal, err) == TALLY_OK) {
 *		tui_terminal_show(terminal, &grid);
 *		uint32_t key = tui_terminal_key(terminal);
 *		tui_terminal_close(terminal);
 *	}
 */
#ifndef TASKS_TERMINAL_TUI_TERMINAL_H
#define TASKS_TERMINAL_TUI_TERMINAL_H

#include "view/tui/explorer_keys.h"
#include "view/tui/grid.h"

struct tui_terminal;

/* Returns whether standard input and output are a terminal that can move its cursor according to TERM. */
bool tui_terminal_is_usable(void);
/* Uses colours unless NO_COLOR is set. */
TALLY_MUST_CHECK enum tally_status tui_terminal_open(struct tui_terminal **terminal, struct tally_error *err);
void tui_terminal_close(struct tui_terminal *terminal);
void tui_terminal_size(const struct tui_terminal *terminal, unsigned *rows, unsigned *columns);
void tui_terminal_show(struct tui_terminal *terminal, const struct grid *grid);
/* Redraws the whole screen, as after another program has written to it. */
void tui_terminal_redraw(struct tui_terminal *terminal);
/* Waits for a key, and returns a code point, a value of enum tui_key, or a mouse event (view/tui/tui_keys.h). Returns
 * TUI_KEY_CLOSED if the terminal was closed. */
uint32_t tui_terminal_key(struct tui_terminal *terminal);
/* Works like tui_terminal_key, but returns TUI_KEY_NONE when ms milliseconds have passed, or when other_fd becomes
 * readable. */
uint32_t tui_terminal_key_within(struct tui_terminal *terminal, int ms, int other_fd);
/* Works like tui_terminal_key, but does not wait: returns TUI_KEY_NONE if no key was pressed. */
uint32_t tui_terminal_key_now(struct tui_terminal *terminal);

#endif

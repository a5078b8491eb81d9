/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tui_print.h - writes the contents of a screen to a new file in the current directory, and reports the result.
 *
 *	struct tui_printed printed = {.base = "perf.hist", .is_numbered = true, .print = print, .data = e};
 *	tui_print(&printed, message, sizeof(message));
 */
#ifndef TASKS_TERMINAL_TUI_PRINT_H
#define TASKS_TERMINAL_TUI_PRINT_H

#include "base/text.h"
#include "view/tui/explorer_state.h"

struct tui_printed {
	const char *base; /* Base of the file name; slashes are replaced by underscores. */
	bool is_numbered; /* Always appends a number to the name; otherwise only if the name is in use. */
	void (*print)(void *data, struct text *out); /* Sets out->failed if memory runs out. */
	void *data;
};

/* Writes the result to message, also if it is a failure. */
void tui_print(const struct tui_printed *printed, char *message, size_t size);
/* Writes the displayed table to perf.hist.N. The explorer shows the result. */
void tui_print_table(struct explorer *e);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tui_print.h - writes the contents of a screen to a new file in the current folder, and reports the result.
 *
 *	tui_print(&(struct tui_printed){.base = "perf.hist", .is_numbered = true, .print = print, .data = e}, message, size);
 */
#ifndef TASKS_TERMINAL_TUI_PRINT_H
#define TASKS_TERMINAL_TUI_PRINT_H

#include "base/text.h"
#include "view/tui/explorer_state.h"

struct tui_printed {
	const char *base; /* of the name; slashes become underscores */
	bool is_numbered; /* from the first one on: else only if the name is taken */
	void (*print)(void *data, struct text *out); /* out of memory: sets out->failed */
	void *data;
};

/* A failure is reported in the message, and the session continues. */
void tui_print(const struct tui_printed *printed, char *message, size_t size);
/* A table as it shows, to perf.hist.N; the explorer says how that went. */
void tui_print_table(struct explorer *e);

#endif

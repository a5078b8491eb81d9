/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tui_line.h - builds lines of text in several styles, and the lines that all screens have: title, bottom, help.
 *
 * The caller clears a line before it is reused, and frees its text.
 *
 *	struct tui_line line = {0};
 *	tui_line_style(&line, tui_heat_style(7.5));
 *	text_str(&line.text, "7.50%");
 *	tui_line_style(&line, GRID_PLAIN);
 *	tui_line_put(&line, &grid, row, shift);
 */
#ifndef VIEW_TUI_TUI_LINE_H
#define VIEW_TUI_TUI_LINE_H

#include "view/tui/grid.h"
#include "view/tui/tui_keys.h"

/* Enough for the values of a row, which are columns times events of a group; further text has the last style. */
#define TUI_LINE_SPANS	  64
#define TUI_MESSAGE_BYTES 192

struct tui_span { /* A style that starts at a position. */
	size_t start;
	enum grid_style style;
};

struct tui_line {
	struct text text;
	struct tui_span spans[TUI_LINE_SPANS];
	size_t span_count;
};

struct tui_help { /* A line of the help screen; keys is NULL for a heading. */
	const char *keys, *what;
};

void tui_line_clear(struct tui_line *line);
void tui_line_style(struct tui_line *line, enum grid_style style);
/* Writes the line without its first `shift` columns; a wide character at the edge is omitted. */
void tui_line_put(const struct tui_line *line, struct grid *grid, unsigned row, unsigned shift);
enum grid_style tui_heat_style(double percent);

void tui_put_title(struct grid *grid, struct tally_str title);
/* Draws the bottom line: left is cut where right begins; right is omitted if it does not fit. */
void tui_put_bottom(struct grid *grid, struct tally_str left, struct tally_str right);
/* Appends as many hints as fit. */
void tui_append_hints(struct text *t, const char *const *hints, size_t count, size_t room);
/* Draws the help from row 1 to the one before the last. */
void tui_put_help(struct grid *grid, const struct tui_help *help, size_t count, size_t top, struct text *scratch);
/* Formats a message that the key is unknown and which one opens the help. message has TUI_MESSAGE_BYTES. */
void tui_say_unknown(char *message, uint32_t key, char help_key);
/* Scrolls the help on a screen with this number of rows. Returns false if the key closes the help. */
bool tui_help_key(size_t *top, size_t count, unsigned rows, uint32_t key);

#endif

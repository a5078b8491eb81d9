/* SPDX-License-Identifier: Apache-2.0 */
#include "view/tui/tui_line.h"

#include <stdio.h>

#include "base/array.h"
#include "base/text_cells.h"
#include "view/text/percent_text.h"

#define HELP_WIDTH 20

void tui_line_clear(struct tui_line *line)
{
	text_clear(&line->text);
	line->span_count = 0;
}

void tui_line_style(struct tui_line *line, enum grid_style style)
{
	if (line->span_count < TUI_LINE_SPANS)
		line->spans[line->span_count++] = (struct tui_span){line->text.len, style};
}

enum grid_style tui_heat_style(double percent)
{
	switch (percent_heat(percent)) {
	case PERCENT_HOT:
		return GRID_HOT;
	case PERCENT_WARM:
		return GRID_WARM;
	case PERCENT_COOL:
		break;
	}
	return GRID_PLAIN;
}

void tui_line_put(const struct tui_line *line, struct grid *grid, unsigned row, unsigned shift)
{
	/* The first characters, which fill shift columns, are not shown. */
	struct tally_str rest = {line->text.data, line->text.len};
	for (unsigned skipped = 0, width; skipped < shift && rest.len > 0; skipped += width)
		(void)grid_next_character(&rest, &width);
	size_t at = line->text.len - rest.len;
	unsigned column = 0;
	enum grid_style style = GRID_PLAIN;
	for (size_t i = 0; i <= line->span_count; i++) {
		size_t end = i < line->span_count ? line->spans[i].start : line->text.len;
		if (end > at) {
			column = grid_put(grid, row, column, (struct tally_str){line->text.data + at, end - at}, style);
			at = end;
		}
		if (i < line->span_count)
			style = line->spans[i].style;
	}
}

void tui_put_title(struct grid *grid, struct tally_str title)
{
	grid_fill(grid, 0, GRID_TITLE);
	grid_put(grid, 0, 0, title, GRID_TITLE);
}

void tui_put_bottom(struct grid *grid, struct tally_str left, struct tally_str right)
{
	unsigned row = grid->rows - 1;
	grid_fill(grid, row, GRID_BOTTOM);
	grid_put(grid, row, 0, left, GRID_BOTTOM);
	size_t cells = text_cells(right);
	if (cells && cells < grid->columns)
		grid_put(grid, row, grid->columns - (unsigned)cells, right, GRID_BOTTOM);
}

void tui_append_hints(struct text *t, const char *const *hints, size_t count, size_t room)
{
	for (size_t i = 0; i < count; i++) {
		if (t->len + 1 + strlen(hints[i]) > room)
			return;
		text_str(t, i ? " " : "");
		text_str(t, hints[i]);
	}
}

void tui_put_help(struct grid *grid, const struct tui_help *help, size_t count, size_t top, struct text *scratch)
{
	/* On a narrow screen the keys are not aligned in a column. */
	bool is_narrow = grid->columns < 3 * HELP_WIDTH;
	for (unsigned row = 1; row + 1 < grid->rows && top + row - 1 < count; row++) {
		const struct tui_help *line = &help[top + row - 1];
		text_clear(scratch);
		if (!line->keys)
			text_str(scratch, line->what);
		else if (is_narrow)
			text_printf(scratch, " %s: %s", line->keys, line->what);
		else
			text_printf(scratch, "  %-*s%s", HELP_WIDTH, line->keys, line->what);
		grid_put(grid, row, 0, (struct tally_str){scratch->data, scratch->len},
			line->keys ? GRID_PLAIN : GRID_HEADER);
	}
}

void tui_say_unknown(char *message, uint32_t key, char help_key)
{
	if (key > ' ' && key < 0x7f)
		snprintf(message, TUI_MESSAGE_BYTES, "unknown key '%c': press %c for help", (char)key, help_key);
	else
		snprintf(message, TUI_MESSAGE_BYTES, "unknown key: press %c for help", help_key);
}

static void scroll_help(size_t *top, size_t count, unsigned rows, long lines)
{
	size_t page = rows > 2 ? rows - 2 : 1;
	long last = count > page ? (long)(count - page) : 0;
	long wanted = (long)*top + lines;
	*top = (size_t)(wanted < 0 ? 0 : MIN(wanted, last));
}

bool tui_help_key(size_t *top, size_t count, unsigned rows, uint32_t key)
{
	long page = rows > 3 ? (long)rows - 3 : 1;
	if (tui_is_mouse(key)) {
		if (tui_mouse_act(key) == TUI_MOUSE_CLICK || tui_mouse_act(key) == TUI_MOUSE_DOUBLE)
			return false;
		scroll_help(top, count, rows, tui_mouse_act(key) == TUI_MOUSE_WHEEL_UP ? -3 : 3);
		return true;
	}
	switch (key) {
	case TUI_KEY_DOWN:
	case 'j':
		scroll_help(top, count, rows, 1);
		return true;
	case TUI_KEY_UP:
	case 'k':
		scroll_help(top, count, rows, -1);
		return true;
	case TUI_KEY_PAGE_DOWN:
	case ' ':
		scroll_help(top, count, rows, page);
		return true;
	case TUI_KEY_PAGE_UP:
		scroll_help(top, count, rows, -page);
		return true;
	case TUI_KEY_RESIZE:
		scroll_help(top, count, rows, 0);
		return true;
	default:
		return false;
	}
}

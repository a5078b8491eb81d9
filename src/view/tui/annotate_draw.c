/* SPDX-License-Identifier: Apache-2.0 */
#include "view/tui/annotate_draw.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/array.h"
#include "base/order.h"
#include "base/text_cells.h"

#define ANNOTATE_DRAW_FIRST_ROW 2
#define NO_LINE			SIZE_MAX

struct annotate_draw_columns { /* Widths of the columns. */
	unsigned value, count, label, bytes, mnemonic;
};

/* The arrow of the jump on the cursor's line. Indexes of visible lines, or NO_LINE. */
struct arrow {
	size_t first, last; /* Uppermost and lowest line of the arrow. */
	size_t target; /* Line to which the jump leads. */
};

static unsigned annotate_draw_digits_of(uint64_t value)
{
	unsigned digits = 1;
	for (; value > 15; value >>= 4)
		digits++;
	return digits;
}

static bool has_label(const struct annotate_screen *s, const struct annotate_line *line)
{
	bool is_call = line->flow == ANNOTATE_CALL;
	if (s->settings.is_disassembly || line->is_target)
		return true;
	return s->settings.labels == ANNOTATE_LABEL_ALL || (s->settings.labels == ANNOTATE_LABEL_CALLS && is_call);
}

static uint64_t label_of(const struct annotate_screen *s, const struct annotate_line *line)
{
	bool is_absolute = s->settings.is_disassembly || s->settings.is_absolute;
	return is_absolute ? line->address : line->address - s->function->start;
}

static struct annotate_draw_columns annotate_draw_measure(const struct annotate_screen *s)
{
	struct annotate_draw_columns c = {
		.value = s->settings.column == ANNOTATE_PERIOD ? 13 : 8, .count = s->settings.counts_jumps ? 4 : 0};
	for (size_t i = 0; i < s->function->line_count; i++) {
		const struct annotate_line *line = &s->function->lines[i];
		if (line->kind != ANNOTATE_CODE)
			continue;
		unsigned width = (unsigned)strlen(line->mnemonic), digits = annotate_draw_digits_of(label_of(s, line));
		unsigned bytes = s->settings.shows_bytes ? (unsigned)line->bytes.len * 3 : 0;
		c.mnemonic = MAX(width, c.mnemonic);
		c.bytes = MAX(bytes, c.bytes);
		if (has_label(s, line))
			c.label = MAX(digits, c.label);
	}
	return c;
}

static void annotate_draw_put_values(const struct annotate_screen *s, const struct annotate_draw_columns *c,
	const struct annotate_line *line, struct tui_line *out)
{
	const struct annotate_function *f = s->function;
	for (uint32_t e = 0; e < f->event_count; e++) {
		if (line->kind != ANNOTATE_CODE || line->values == ANNOTATE_NONE) {
			text_repeat(&out->text, ' ', c->value);
			continue;
		}
		const struct annotate_value *value = &f->values[line->values + e];
		double percent = annotate_percent_of(f, s->settings.percent, line->values, e);
		tui_line_style(out, tui_heat_style(percent));
		if (s->settings.column == ANNOTATE_PERCENT)
			text_fixed_right(&out->text, percent, 2, c->value - 1);
		else
			text_u64_right(&out->text, s->settings.column == ANNOTATE_PERIOD ? value->period : value->count,
				c->value - 1);
		tui_line_style(out, GRID_PLAIN);
		text_char(&out->text, ' ');
	}
}

/* Returns three columns: the part of the jump's arrow beside a line. */
static const char *annotate_draw_way(const struct arrow *arrow, size_t index)
{
	if (arrow->first == NO_LINE || index < arrow->first || index > arrow->last)
		return "   ";
	bool is_top = index == arrow->first, is_target = index == arrow->target;
	if (arrow->first == arrow->last)
		return "└─→";
	if (is_target)
		return is_top ? "┌─→" : "└─→";
	if (is_top)
		return "┌──";
	return index == arrow->last ? "└──" : "│  ";
}

/* Replaces tabs, which precede comments, by blanks, because they have no cells in the grid. */
static void put_blanked(struct text *t, const char *text)
{
	for (; *text; text++)
		text_char(t, *text == '\t' ? ' ' : *text);
}

static void annotate_draw_put_code(const struct annotate_screen *s, const struct annotate_draw_columns *c,
	const struct annotate_line *line, const char *passing, struct text *t)
{
	size_t index = (size_t)(line - s->function->lines);
	if (c->count && s->sources[index])
		text_printf(t, "%*" PRIu32 " ", (int)c->count - 1, s->sources[index]);
	else
		text_repeat(t, ' ', c->count);
	if (has_label(s, line)) {
		text_hex_right(t, label_of(s, line), c->label);
		text_char(t, ':');
	} else {
		text_repeat(t, ' ', c->label + 1);
	}
	size_t shown = MIN(c->bytes / 3, line->bytes.len);
	for (size_t i = 0; i < shown; i++) {
		text_char(t, ' ');
		text_hex(t, line->bytes.data[i], 2);
	}
	text_repeat(t, ' ', c->bytes - shown * 3);
	text_str(t, passing);
	text_str(t, annotate_arrow(s->function, line));
	if (s->settings.is_disassembly) {
		put_blanked(t, line->text);
		return;
	}
	text_str(t, line->mnemonic);
	if (*line->operands) {
		text_repeat(t, ' ', c->mnemonic - strlen(line->mnemonic) + 1);
		put_blanked(t, line->operands);
	}
}

static void annotate_draw_make_line(const struct annotate_screen *s, const struct annotate_draw_columns *c,
	const struct arrow *arrow, size_t index, struct tui_line *out)
{
	const struct annotate_line *line = &s->function->lines[s->visible[index]];
	tui_line_clear(out);
	annotate_draw_put_values(s, c, line, out);
	if (s->function->has_cycles && s->settings.shows_cycle_range)
		annotate_cycle_range(&out->text, line);
	else if (s->function->has_cycles)
		annotate_cycles(&out->text, line);
	text_str(&out->text, "│ ");
	if (line->kind == ANNOTATE_CODE) {
		annotate_draw_put_code(s, c, line, annotate_draw_way(arrow, index), &out->text);
		return;
	}
	text_repeat(&out->text, ' ', c->count + c->label + 1 + c->bytes);
	text_str(&out->text, annotate_draw_way(arrow, index));
	tui_line_style(out, line->is_source ? GRID_SOURCE : GRID_HEADER);
	text_str(&out->text, "  ");
	if (line->source_number && s->settings.places == ANNOTATE_PATHS && line->path)
		text_printf(&out->text, "%s:%" PRIu32 "  ", line->path, line->source_number);
	else if (line->source_number && s->settings.places != ANNOTATE_NO_PLACES)
		text_printf(&out->text, "%-5" PRIu32 " ", line->source_number);
	text_str(&out->text, line->text);
}

/* The heading names the values of the column if there is one event, and the events if there are several. */
static void annotate_draw_make_heading(
	const struct annotate_screen *s, const struct annotate_draw_columns *c, struct tui_line *out)
{
	static const char *const names[] = {"Percent", "Samples", "Period"};
	const struct annotate_function *f = s->function;
	tui_line_clear(out);
	tui_line_style(out, GRID_HEADER);
	for (uint32_t e = 0; e < f->event_count; e++) {
		struct tally_str name = f->event_count > 1 ? f->events[e].name : str_from(names[s->settings.column]);
		text_str_right(&out->text, text_cells_cut(name, c->value - 1), c->value - 1);
		text_char(&out->text, ' ');
	}
	if (f->has_cycles)
		text_str(&out->text, s->settings.shows_cycle_range ? "  IPC  Cycle(min/max) " : "  IPC Cycle ");
	text_str(&out->text, "│ ");
	text_str(&out->text, f->event_name);
}

static void make_title(const struct annotate_screen *s, struct text *t)
{
	const struct annotate_function *f = s->function;
	text_clear(t);
	text_printf(t, "%s  %s  %" PRIu64 " samples, percent: %s", f->name, f->file, f->sample_count,
		annotate_percent_name(s->settings.percent));
}

static struct arrow find_arrow(const struct annotate_screen *s)
{
	const struct annotate_line *line = annotate_screen_line(s);
	struct arrow arrow = {NO_LINE, NO_LINE, NO_LINE};
	if (!line || line->kind != ANNOTATE_CODE || line->target == ANNOTATE_NONE)
		return arrow;
	size_t from = s->list.cursor, to;
	LOWER_BOUND(to, s->list.count, middle, s->visible[middle] < line->target);
	return (struct arrow){MIN(from, to), MAX(from, to), to};
}

static void annotate_draw_put_bottom(const struct annotate_screen *s, struct grid *grid, struct text *t)
{
	static const char *const hints[] = {"h:help", "q:back", "Enter:follow", "Tab:hot line", "/:search", "s:source",
		"o:addresses", "p/b/t:percent", "</>:function", "P:print"};
	char room[TUI_PLACE_BYTES];
	struct tui_bottom bottom = {hints, ARRAY_LEN(hints), NULL, tui_place(&s->list, room)};
	tui_frame_put_bottom(&s->frame, &bottom, grid, t);
}

static void annotate_draw_put_lines(const struct annotate_screen *s, struct grid *grid, struct tui_line *line)
{
	struct annotate_draw_columns columns = annotate_draw_measure(s);
	struct arrow arrow = find_arrow(s);
	unsigned last = grid->rows > 1 ? grid->rows - 1 : 0;
	if (last > 1) {
		annotate_draw_make_heading(s, &columns, line);
		grid_fill(grid, 1, GRID_HEADER);
		tui_line_put(line, grid, 1, s->frame.shift);
	}
	for (unsigned row = ANNOTATE_DRAW_FIRST_ROW;
		row < last && s->list.top + (row - ANNOTATE_DRAW_FIRST_ROW) < s->list.count; row++) {
		size_t index = s->list.top + (row - ANNOTATE_DRAW_FIRST_ROW);
		annotate_draw_make_line(s, &columns, &arrow, index, line);
		tui_line_put(line, grid, row, s->frame.shift);
		if (index == s->list.cursor)
			grid_select(grid, row);
	}
}

bool annotate_draw(const struct annotate_screen *s, struct grid *grid)
{
	struct tui_line line = {0};
	size_t help_count;
	const struct tui_help *help = annotate_screen_help(&help_count);
	if (!tui_frame_clear(&s->frame, grid))
		return false;
	if (grid->rows == 0)
		return true;
	if (s->frame.mode == TUI_HELP)
		tui_put_help(grid, help, help_count, s->frame.help_top, &line.text);
	else
		annotate_draw_put_lines(s, grid, &line);
	make_title(s, &line.text);
	tui_put_title(grid, (struct tally_str){line.text.data, line.text.len});
	annotate_draw_put_bottom(s, grid, &line.text);
	bool is_drawn = !line.text.failed;
	text_deinit(&line.text);
	return is_drawn;
}

void annotate_screen_print(const struct annotate_screen *s, struct text *out)
{
	struct tui_line line = {0};
	struct annotate_draw_columns columns = annotate_draw_measure(s);
	struct arrow none = {NO_LINE, NO_LINE, NO_LINE};
	make_title(s, &line.text);
	text_bytes(out, line.text.data, line.text.len);
	text_char(out, '\n');
	annotate_draw_make_heading(s, &columns, &line);
	for (size_t i = 0;; i++) {
		text_bytes(out, line.text.data, line.text.len);
		text_char(out, '\n');
		text_line_end(out);
		if (i == s->list.count)
			break;
		annotate_draw_make_line(s, &columns, &none, i, &line);
	}
	out->failed = out->failed || line.text.failed;
	text_deinit(&line.text);
}

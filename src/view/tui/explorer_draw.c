/* SPDX-License-Identifier: Apache-2.0 */
#include "view/tui/explorer_draw.h"

#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "view/text/report_cells.h"
#include "view/tui/explorer_changes.h"
#include "view/tui/explorer_keys.h"
#include "view/tui/explorer_lines.h"
#include "view/tui/tui_line.h"

#define CHAIN_MARGIN 3
#define CHAIN_STEP   3

enum use { USE_SCREEN, USE_FILE };

struct explorer_draw_places {
	size_t columns[REPORT_MAX_COLUMNS]; /* Columns of the layout, in the order in which they are shown. */
};

/* On a narrow screen the symbol comes before the other keys, which can be scrolled to. */
static struct explorer_draw_places place_columns(const struct explorer *e, enum use use)
{
	const struct report_layout *l = &e->layout;
	size_t symbol = 0, first_key = 0;
	struct explorer_draw_places places;
	for (size_t i = 0; i < l->count; i++)
		places.columns[i] = i;
	while (symbol < l->count && l->columns[symbol] != KEY_SYMBOL)
		symbol++;
	if (use == USE_FILE || !e->is_symbol_first || symbol == l->count)
		return places;
	while (profile_key_get(l->columns[first_key])->is_value)
		first_key++;
	for (size_t i = symbol; i > first_key; i--)
		places.columns[i] = places.columns[i - 1];
	places.columns[first_key] = symbol;
	return places;
}

/* Prints a value for each event of the group, each in its colour. */
static void value_cell(const struct explorer *e, struct tui_line *line, size_t column, const struct flat_stat *stats)
{
	const struct report_layout *l = &e->layout;
	enum profile_key key = l->columns[column];
	size_t start = line->text.len;
	report_value_cell(l, &line->text, column, stats);
	if (!profile_key_get(key)->is_percent || line->text.failed)
		return;
	size_t end = line->text.len;
	for (uint32_t m = 0; m < l->table->options.member_count; m++) {
		uint64_t total = report_value_total(l, m, key);
		uint64_t value = flat_stat_value(l->table, flat_member_stat(l->table, stats, m), key);
		double percent = total ? 100.0 * (double)value / (double)total : 0;
		line->text.len = start + m * l->cells[column];
		tui_line_style(line, tui_heat_style(percent));
	}
	line->text.len = end;
	tui_line_style(line, GRID_PLAIN);
}

static void row_line(
	const struct explorer *e, const struct explorer_draw_places *places, size_t index, struct tui_line *line)
{
	const struct report_layout *l = &e->layout;
	uint32_t table_row = e->visible[index];
	const struct flat_row *row = &l->table->rows[table_row];
	const struct flat_stat *stats = flat_table_stat(l->table, table_row, 0);
	bool is_open = explorer_fold_at(e, index) != NULL;
	text_str(&line->text, is_open ? "- " : explorer_has_chains(e, table_row) ? "+ " : "  ");
	if (e->changes)
		text_printf(&line->text, "%+*.2f%%  ", EXPLORER_CHANGE_WIDTH - 1, e->changes[table_row]);
	for (size_t i = 0; i < l->count; i++) {
		size_t column = places->columns[i];
		text_str(&line->text, i ? "  " : "");
		size_t start = line->text.len;
		if (profile_key_get(l->columns[column])->is_value)
			value_cell(e, line, column, stats);
		else
			report_key_cell(l, &line->text, column, row);
		if (i + 1 < l->count)
			text_pad_from(&line->text, start, l->widths[column]);
	}
}

static void chain_line(const struct explorer *e, struct explorer_position at, struct tui_line *line)
{
	const struct explorer_fold *fold = explorer_fold_at(e, at.row);
	const struct fold_line *from = &fold->lines[at.line - 1];
	const struct fold_node *node = &fold->nodes[from->node];
	bool has_mark = explorer_fold_has_mark(fold, from);
	size_t depth = (size_t)node->depth + (from->frame > 0 && explorer_fold_is_indented(node));
	text_repeat(&line->text, ' ', CHAIN_MARGIN + CHAIN_STEP * depth);
	text_str(&line->text, !has_mark ? "  " : node->is_open ? "- " : "+ ");
	if (node->has_value && from->frame == 0) {
		double percent = node->total ? 100.0 * (double)node->period / (double)node->total : 0;
		bool is_percent = e->options.chains.value == CHAIN_PERCENT;
		tui_line_style(line, is_percent ? tui_heat_style(percent) : GRID_PLAIN);
		chain_value_text(&line->text, &e->options.chains, node->period, node->count, node->total);
		tui_line_style(line, GRID_PLAIN);
		text_char(&line->text, ' ');
	}
	uint32_t frame = fold->frames[node->first_frame + from->frame];
	chain_frame_text(&line->text, e->table, frame);
	if (e->shows_objects) {
		const struct profile *p = e->table->profile;
		uint32_t binary = p->frames[frame].binary;
		struct tally_str name =
			binary == PROFILE_NONE ? STR("[unknown]") : profile_string(p, p->binaries[binary].name);
		tui_line_style(line, GRID_SOURCE);
		text_str(&line->text, "  ");
		text_bytes(&line->text, name.data, name.len);
	}
}

static void any_line(const struct explorer *e, const struct explorer_draw_places *places, struct explorer_position at,
	struct tui_line *line)
{
	tui_line_clear(line);
	if (at.line == 0)
		row_line(e, places, at.row, line);
	else
		chain_line(e, at, line);
}

static void header_line(const struct explorer *e, const struct explorer_draw_places *places, struct tui_line *line)
{
	const struct report_layout *l = &e->layout;
	tui_line_clear(line);
	tui_line_style(line, GRID_HEADER);
	text_str(&line->text, "  ");
	if (e->changes)
		text_printf(&line->text, "%*s  ", EXPLORER_CHANGE_WIDTH, "Change");
	for (size_t i = 0; i < l->count; i++) {
		size_t column = places->columns[i];
		bool is_right = profile_key_get(l->columns[column])->is_value || l->columns[column] >= KEY_FIELD;
		text_str(&line->text, i ? "  " : "");
		report_header_cell(l, &line->text, column, is_right || i + 1 < l->count ? l->widths[column] : SIZE_MAX);
	}
}

static void title_line(const struct explorer *e, struct text *t)
{
	const struct profile *p = e->table->profile;
	text_str(t, e->title);
	for (unsigned i = 0; i < e->zoom_count; i++) {
		struct tally_str name = {0};
		if (e->zooms[i] == ZOOM_THREAD) {
			text_str(t, ", Thread: ");
			name = profile_string(p, p->threads[e->zoom_thread].comm);
		} else if (e->zooms[i] == ZOOM_KERNEL) {
			text_str(t, ", Kernel");
		} else if (e->zooms[i] == ZOOM_SOCKET) {
			text_printf(t, ", Socket: %d", (int)e->zoom_socket);
		} else if (e->zooms[i] == ZOOM_FUNCTION) {
			text_str(t, ", Symbol = ");
			name = profile_string(p, p->functions[e->zoom_function].name);
		} else if (e->zooms[i] == ZOOM_DSO) {
			text_str(t, ", DSO: ");
			name = e->zoom_binary == PROFILE_NONE ? STR("[unknown]")
							      : profile_string(p, p->binaries[e->zoom_binary].name);
		} else {
			text_str(t, ", Symbol: ");
			name = str_from(e->zoom_symbol);
		}
		text_bytes(t, name.data, name.len);
	}
	if (e->mark)
		text_printf(t, ", changed since %s", e->mark->when);
	if (e->percent_limit > 0)
		text_printf(t, ", from %.4g%%", e->percent_limit);
}

static void bottom_line(const struct explorer *e, struct text *t, size_t room)
{
	static const char *const hints[] = {"?:help", "q:quit", "m:menu", "Enter:chain", "a:annotate", "/:filter",
		"f:search", "v:flame", "T:tree", "I:callers", "o:order", "t:thread", "d:object", "E/C:all", "Tab:event",
		"L:limit", "P:print"};
	if (e->mode == EXPLORER_ASK_SEARCH)
		text_printf(t, "Search: %s_", e->input.text);
	else if (e->mode == EXPLORER_ASK_SORT)
		text_printf(t, "Sort keys: %s_", e->input.text);
	else if (e->mode == EXPLORER_MENU)
		text_str(t, "Enter:choose Esc:back");
	else if (e->mode == EXPLORER_ASK_SYMBOL)
		text_printf(t, "Symbol: %s_", e->input.text);
	else if (e->mode == EXPLORER_ASK_LIMIT)
		text_printf(t, "Percent limit: %s_", e->input.text);
	else if (e->mode == EXPLORER_HELP)
		text_str(t, "Up, Down: more; any other key goes back");
	else if (e->message[0])
		text_str(t, e->message);
	else
		tui_append_hints(t, hints, ARRAY_LEN(hints), room);
}

/* Draws the available keys or the current question, and on the right the position in the table. */
static void explorer_draw_put_bottom(
	const struct explorer *e, const char *events, struct grid *grid, struct text *scratch)
{
	char place[96];
	int width = snprintf(place, sizeof(place), " %s%s%s%zu/%zu", *events ? "event " : "", events,
		*events ? ", " : "", e->visible_count ? e->cursor.row + 1 : 0, e->visible_count);
	bool has_place = e->mode == EXPLORER_TABLE && !e->message[0];
	struct tally_str right = {place, has_place ? (size_t)width : 0};
	text_clear(scratch);
	bottom_line(e, scratch, grid->columns > right.len ? grid->columns - right.len : grid->columns);
	tui_put_bottom(grid, (struct tally_str){scratch->data, scratch->len}, right);
}

static void explorer_draw_put_table(const struct explorer *e, struct grid *grid, struct tui_line *line)
{
	const struct explorer_draw_places places = place_columns(e, USE_SCREEN);
	unsigned row = 1, last = grid->rows > 1 ? grid->rows - 1 : 0;
	if (!e->hides_headers && row < last) {
		header_line(e, &places, line);
		grid_fill(grid, row, GRID_HEADER);
		tui_line_put(line, grid, row++, e->shift);
	}
	struct explorer_position at = e->top;
	for (; row < last && at.row < e->visible_count; row++) {
		const struct explorer_fold *fold = explorer_fold_at(e, at.row);
		any_line(e, &places, at, line);
		tui_line_put(line, grid, row, e->shift);
		if (at.row == e->cursor.row && at.line == e->cursor.line)
			grid_select(grid, row);
		if (fold && at.line < fold->line_count)
			at.line++;
		else
			at = (struct explorer_position){.row = at.row + 1};
	}
}

bool explorer_draw(const struct explorer *e, const char *events, struct grid *grid)
{
	struct tui_line line = {0};
	if ((grid->rows != e->rows || grid->columns != e->columns) && !grid_resize(grid, e->rows, e->columns))
		return false;
	grid_clear(grid);
	if (grid->rows == 0)
		return true;
	size_t help_count;
	const struct tui_help *help = explorer_help(&help_count);
	if (e->help) {
		help = e->help;
		help_count = e->help_count;
	}
	if (e->mode == EXPLORER_HELP)
		tui_put_help(grid, help, help_count, e->help_top, &line.text);
	else
		explorer_draw_put_table(e, grid, &line);
	text_clear(&line.text);
	title_line(e, &line.text);
	tui_put_title(grid, (struct tally_str){line.text.data, line.text.len});
	explorer_draw_put_bottom(e, events, grid, &line.text);
	if (e->mode == EXPLORER_MENU)
		tui_menu_put(&e->menu, grid);
	bool is_drawn = !line.text.failed;
	text_deinit(&line.text);
	return is_drawn;
}

enum tally_status explorer_print(struct explorer *e, struct text *out, struct tally_error *err)
{
	const struct explorer_draw_places places = place_columns(e, USE_FILE);
	struct tui_line line = {0};
	struct explorer_position at = {0};
	text_str(out, "# ");
	title_line(e, out);
	text_str(out, "\n#\n#");
	header_line(e, &places, &line);
	if (line.text.len)
		text_bytes(out, line.text.data + 1, line.text.len - 1);
	text_str(out, "\n#\n");
	bool has_line = e->visible_count > 0;
	while (has_line && !line.text.failed) {
		any_line(e, &places, at, &line);
		while (line.text.len > 0 && line.text.data[line.text.len - 1] == ' ')
			line.text.len--;
		text_bytes(out, line.text.data, line.text.len);
		text_char(out, '\n');
		text_line_end(out);
		has_line = explorer_next_line(e, &at);
	}
	bool is_printed = !line.text.failed && !out->failed && !e->failed;
	text_deinit(&line.text);
	return is_printed ? TALLY_OK : error_nomem(err);
}

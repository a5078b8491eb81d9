#include "view/tui/explorer_draw.h"
#include "base/error.h"
#include "view/text/percent_text.h"
#include "view/text/report_cells.h"
#include "view/tui/explorer_keys.h"

#include <stdio.h>
#include <string.h>

#define MAX_SPANS    64 /* values of a row: columns times events of a group; the rest is plain */
#define CHAIN_MARGIN 3
#define CHAIN_STEP   3
#define HELP_WIDTH   34

struct span { /* a style from here on */
	size_t start;
	enum grid_style style;
};

struct line {
	struct text text;
	struct span spans[MAX_SPANS];
	size_t span_count;
};

static void begin_style(struct line *line, enum grid_style style)
{
	if (line->span_count < MAX_SPANS)
		line->spans[line->span_count++] = (struct span){line->text.len, style};
}

static void clear_line(struct line *line)
{
	text_clear(&line->text);
	line->span_count = 0;
}

static enum grid_style heat_style(double percent)
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

/* A value of each event of the group, each in its colour. */
static void value_cell(const struct explorer *e, struct line *line, size_t column, const struct flat_stat *stats)
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
		double percent = total ? 100.0 * (double)flat_stat_value(&stats[m], key) / (double)total : 0;
		line->text.len = start + m * l->cells[column];
		begin_style(line, heat_style(percent));
	}
	line->text.len = end;
	begin_style(line, GRID_PLAIN);
}

static void pad_to(struct text *text, size_t start, size_t width)
{
	size_t written = text->len - start;
	if (written < width)
		text_repeat(text, ' ', width - written);
}

static void row_line(const struct explorer *e, size_t index, struct line *line)
{
	const struct report_layout *l = &e->layout;
	uint32_t table_row = e->visible[index];
	const struct flat_row *row = &l->table->rows[table_row];
	const struct flat_stat *stats = flat_table_stat(l->table, table_row, 0);
	bool is_open = explorer_fold_at(e, index) != NULL;
	text_str(&line->text, is_open ? "- " : explorer_has_chains(e, table_row) ? "+ " : "  ");
	for (size_t i = 0; i < l->count; i++) {
		text_str(&line->text, i ? "  " : "");
		size_t start = line->text.len;
		if (profile_key_get(l->columns[i])->is_value)
			value_cell(e, line, i, stats);
		else
			report_key_cell(l, &line->text, i, row);
		if (i + 1 < l->count)
			pad_to(&line->text, start, l->widths[i]);
	}
}

static void chain_line(const struct explorer *e, struct explorer_position at, struct line *line)
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
		begin_style(line, is_percent ? heat_style(percent) : GRID_PLAIN);
		chain_value_text(&line->text, &e->options.chains, node->period, node->count, node->total);
		begin_style(line, GRID_PLAIN);
		text_char(&line->text, ' ');
	}
	chain_frame_text(&line->text, e->table, fold->frames[node->first_frame + from->frame]);
}

static void any_line(const struct explorer *e, struct explorer_position at, struct line *line)
{
	clear_line(line);
	if (at.line == 0)
		row_line(e, at.row, line);
	else
		chain_line(e, at, line);
}

static void header_line(const struct explorer *e, struct line *line)
{
	const struct report_layout *l = &e->layout;
	clear_line(line);
	text_str(&line->text, "  ");
	for (size_t i = 0; i < l->count; i++) {
		struct tally_str header = str_from(report_column_header(l, l->columns[i]));
		bool is_right = profile_key_get(l->columns[i])->is_value || l->columns[i] >= KEY_FIELD;
		text_str(&line->text, i ? "  " : "");
		if (is_right)
			text_str_right(&line->text, header, l->widths[i]);
		else
			text_str_cut(&line->text, header, i + 1 < l->count ? l->widths[i] : SIZE_MAX);
	}
}

/* Takes columns of cells off the text; a wide character on the edge goes as a whole. */
static size_t skip_columns(const struct text *text, unsigned columns)
{
	struct tally_str rest = {text->data, text->len};
	for (unsigned done = 0; done < columns && rest.len > 0;) {
		unsigned width;
		(void)grid_next_character(&rest, &width);
		done += width;
	}
	return text->len - rest.len;
}

static void put_line(const struct explorer *e, struct grid *grid, unsigned row, const struct line *line)
{
	size_t at = skip_columns(&line->text, e->shift);
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

static void title_line(const struct explorer *e, struct text *t)
{
	const struct profile *p = e->table->profile;
	text_str(t, e->title);
	for (unsigned i = 0; i < e->zoom_count; i++) {
		struct tally_str name = {0};
		if (e->zooms[i] == ZOOM_THREAD) {
			text_str(t, ", Thread: ");
			name = profile_string(p, p->threads[e->zoom_thread].comm);
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
	if (e->percent_limit > 0)
		text_printf(t, ", from %.4g%%", e->percent_limit);
}

/* As many as there is room for. */
static void hint_line(struct text *t, size_t room)
{
	static const char *const hints[] = {"?:help", "q:quit", "Enter:chain", "/:filter", "t:thread", "d:object",
		"E/C:all", "Tab:event", "L:limit", "P:print"};
	for (size_t i = 0; i < sizeof(hints) / sizeof(hints[0]); i++) {
		if (t->len + 1 + strlen(hints[i]) > room)
			return;
		text_str(t, i ? " " : "");
		text_str(t, hints[i]);
	}
}

static void bottom_line(const struct explorer *e, struct text *t, size_t room)
{
	if (e->mode == EXPLORER_ASK_SYMBOL)
		text_printf(t, "Symbol: %s_", e->input);
	else if (e->mode == EXPLORER_ASK_LIMIT)
		text_printf(t, "Percent limit: %s_", e->input);
	else if (e->mode == EXPLORER_HELP)
		text_str(t, "Any key goes back");
	else if (e->message[0])
		text_str(t, e->message);
	else
		hint_line(t, room);
}

/* What keys there are, or what is asked for; on the right the place in the table. */
static void put_bottom(const struct explorer *e, const char *events, struct grid *grid, struct text *scratch)
{
	unsigned row = grid->rows - 1;
	char place[96];
	snprintf(place, sizeof(place), " %s%s%s%zu/%zu", *events ? "event " : "", events, *events ? ", " : "",
		e->visible_count ? e->cursor.row + 1 : 0, e->visible_count);
	size_t width = strlen(place), room = grid->columns > width ? grid->columns - width : grid->columns;
	grid_fill(grid, row, GRID_BOTTOM);
	text_clear(scratch);
	bottom_line(e, scratch, room);
	grid_put(grid, row, 0, (struct tally_str){scratch->data, scratch->len}, GRID_BOTTOM);
	if (e->mode == EXPLORER_TABLE && !e->message[0] && room < grid->columns)
		grid_put(grid, row, (unsigned)room, str_from(place), GRID_BOTTOM);
}

static void put_help(const struct explorer *e, struct grid *grid, struct text *scratch)
{
	size_t count;
	const struct explorer_help *lines = explorer_help(&count);
	/* On a narrow screen the keys take what they need, not a column. */
	bool is_narrow = grid->columns < 2 * HELP_WIDTH;
	for (unsigned row = 1; row + 1 < grid->rows && e->help_top + row - 1 < count; row++) {
		const struct explorer_help *line = &lines[e->help_top + row - 1];
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

static void put_table(const struct explorer *e, struct grid *grid, struct line *line)
{
	unsigned row = 1, last = grid->rows > 1 ? grid->rows - 1 : 0;
	if (!e->hides_headers && row < last) {
		header_line(e, line);
		grid_fill(grid, row, GRID_HEADER);
		size_t at = skip_columns(&line->text, e->shift);
		grid_put(grid, row++, 0, (struct tally_str){line->text.data + at, line->text.len - at}, GRID_HEADER);
	}
	struct explorer_position at = e->top;
	for (; row < last && at.row < e->visible_count; row++) {
		const struct explorer_fold *fold = explorer_fold_at(e, at.row);
		any_line(e, at, line);
		put_line(e, grid, row, line);
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
	struct line line = {0};
	if ((grid->rows != e->rows || grid->columns != e->columns) && !grid_resize(grid, e->rows, e->columns))
		return false;
	grid_clear(grid);
	if (grid->rows == 0)
		return true;
	if (e->mode == EXPLORER_HELP)
		put_help(e, grid, &line.text);
	else
		put_table(e, grid, &line);
	grid_fill(grid, 0, GRID_TITLE);
	text_clear(&line.text);
	title_line(e, &line.text);
	grid_put(grid, 0, 0, (struct tally_str){line.text.data, line.text.len}, GRID_TITLE);
	put_bottom(e, events, grid, &line.text);
	bool is_drawn = !line.text.failed;
	text_deinit(&line.text);
	return is_drawn;
}

enum tally_status explorer_print(struct explorer *e, struct text *out, struct tally_error *err)
{
	struct line line = {0};
	struct explorer_position at = {0};
	text_str(out, "# ");
	title_line(e, out);
	text_str(out, "\n#\n#");
	header_line(e, &line);
	if (line.text.len)
		text_bytes(out, line.text.data + 1, line.text.len - 1);
	text_str(out, "\n#\n");
	bool has_line = e->visible_count > 0;
	while (has_line && !line.text.failed) {
		any_line(e, at, &line);
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

/* SPDX-License-Identifier: Apache-2.0 */
#include "view/tui/explorer_lines.h"

#include "view/text/report_cells.h"

#define EXPLORER_LINES_FIXED_LINES 2 /* Title and bottom line. */

bool explorer_has_chains(const struct explorer *e, uint32_t table_row)
{
	const struct flat_row *row = &e->table->rows[table_row];
	const struct chain_options *chains = &e->options.chains;
	if (!e->table->options.with_chains || chains->style == CHAIN_NONE || row->max_depth == 0)
		return false;
	double least = (double)report_member_total(&e->layout, 0) * chains->min_percent / 100;
	return chains->style == CHAIN_FRACTAL || (double)explorer_row_period(e, table_row) >= least;
}

static struct explorer_fold *find_fold(const struct explorer *e, uint32_t table_row)
{
	uint64_t index;
	return map_u64_find(&e->fold_of_row, table_row, &index) ? &e->folds.items[index] : NULL;
}

static struct explorer_fold *make_fold(struct explorer *e, uint32_t table_row)
{
	struct explorer_fold fold;
	struct fold_options options = {.chains = &e->options.chains,
		.total = report_member_total(&e->layout, 0),
		.row_period = explorer_row_period(e, table_row),
		.is_open = e->are_all_open};
	if (explorer_fold_init(&fold, &e->builder, table_row, &options, NULL) != TALLY_OK) {
		e->failed = true;
		return NULL;
	}
	if (!vec_reserve(&e->folds, e->folds.len + 1) || !map_u64_set(&e->fold_of_row, table_row, e->folds.len)) {
		explorer_fold_deinit(&fold);
		e->failed = true;
		return NULL;
	}
	e->folds.items[e->folds.len] = fold;
	return &e->folds.items[e->folds.len++];
}

const struct explorer_fold *explorer_fold_at(const struct explorer *e, size_t row)
{
	const struct explorer_fold *fold = find_fold(e, e->visible[row]);
	return fold && fold->is_open ? fold : NULL;
}

/* Returns the number of lines of the row's call chains if they are open, and builds the chains if necessary. */
static size_t last_line(struct explorer *e, size_t row)
{
	uint32_t table_row = e->visible[row];
	const struct explorer_fold *fold = find_fold(e, table_row);
	if (!fold && e->are_all_open && explorer_has_chains(e, table_row))
		fold = make_fold(e, table_row);
	return fold && fold->is_open ? fold->line_count : 0;
}

bool explorer_next_line(struct explorer *e, struct explorer_position *position)
{
	if (e->visible_count == 0)
		return false;
	if (position->line < last_line(e, position->row)) {
		position->line++;
		return true;
	}
	if (position->row + 1 >= e->visible_count)
		return false;
	*position = (struct explorer_position){.row = position->row + 1};
	return true;
}

static bool previous_line(struct explorer *e, struct explorer_position *position)
{
	if (position->line > 0) {
		position->line--;
		return true;
	}
	if (position->row == 0)
		return false;
	position->row--;
	position->line = last_line(e, position->row);
	return true;
}

static bool is_before(struct explorer_position a, struct explorer_position b)
{
	return a.row < b.row || (a.row == b.row && a.line < b.line);
}

static bool explorer_lines_is_same(struct explorer_position a, struct explorer_position b)
{
	return a.row == b.row && a.line == b.line;
}

unsigned explorer_page(const struct explorer *e)
{
	unsigned fixed = EXPLORER_LINES_FIXED_LINES + !e->hides_headers;
	return e->rows > fixed ? e->rows - fixed : 1;
}

static void explorer_lines_clamp(struct explorer *e, struct explorer_position *position)
{
	if (e->visible_count == 0) {
		*position = (struct explorer_position){0};
		return;
	}
	if (position->row >= e->visible_count)
		*position = (struct explorer_position){.row = e->visible_count - 1};
	size_t last = last_line(e, position->row);
	if (position->line > last)
		position->line = last;
}

/* Scrolls to the cursor, and builds the open call chains of all lines on the screen. */
void explorer_settle(struct explorer *e)
{
	unsigned page = explorer_page(e);
	explorer_lines_clamp(e, &e->cursor);
	explorer_lines_clamp(e, &e->top);
	if (is_before(e->cursor, e->top))
		e->top = e->cursor;
	struct explorer_position at = e->top;
	bool has_cursor = explorer_lines_is_same(at, e->cursor);
	unsigned lines = 1;
	for (; lines < page && explorer_next_line(e, &at); lines++)
		has_cursor = has_cursor || explorer_lines_is_same(at, e->cursor);
	if (!has_cursor) {
		e->top = e->cursor;
		for (lines = 1; lines < page && previous_line(e, &e->top); lines++)
			;
	} else {
		/* Scrolls back as far as possible, so that the screen does not end with empty lines. */
		for (; lines < page && previous_line(e, &e->top); lines++)
			;
	}
}

void explorer_resize(struct explorer *e, unsigned rows, unsigned columns)
{
	if (columns != e->columns)
		e->is_symbol_first = false;
	e->rows = rows;
	e->columns = columns;
	explorer_place_symbol(e);
	if (e->mode == EXPLORER_MENU)
		tui_menu_fit(&e->menu, rows, columns);
	explorer_settle(e);
}

void explorer_move(struct explorer *e, long lines)
{
	for (; lines > 0 && explorer_next_line(e, &e->cursor); lines--)
		;
	for (; lines < 0 && previous_line(e, &e->cursor); lines++)
		;
	explorer_settle(e);
}

bool explorer_click(struct explorer *e, unsigned screen_row)
{
	unsigned first = e->hides_headers ? 1 : 2;
	struct explorer_position at = e->top;
	if (screen_row < first || screen_row - first >= explorer_page(e) || e->visible_count == 0)
		return false;
	for (unsigned row = first; row < screen_row; row++)
		if (!explorer_next_line(e, &at))
			return false;
	e->cursor = at;
	explorer_settle(e);
	return true;
}

void explorer_home(struct explorer *e)
{
	e->cursor = e->top = (struct explorer_position){0};
	explorer_settle(e);
}

void explorer_end(struct explorer *e)
{
	e->cursor = (struct explorer_position){.row = e->visible_count, .line = 0};
	explorer_lines_clamp(e, &e->cursor);
	if (e->visible_count)
		e->cursor.line = last_line(e, e->cursor.row);
	explorer_settle(e);
}

void explorer_drop_folds(struct explorer *e)
{
	for (size_t i = 0; i < e->folds.len; i++)
		explorer_fold_deinit(&e->folds.items[i]);
	vec_free(&e->folds);
	map_u64_deinit(&e->fold_of_row);
	e->fold_of_row = (struct map_u64){0};
}

struct explorer_fold *explorer_open_row(struct explorer *e, uint32_t table_row)
{
	struct explorer_fold *fold = find_fold(e, table_row);
	if (!fold)
		fold = make_fold(e, table_row);
	if (fold)
		fold->is_open = true;
	return fold;
}

void explorer_place(struct explorer *e, size_t above)
{
	if (e->visible_count) {
		e->cursor.line = e->cursor.line > last_line(e, e->cursor.row) ? 0 : e->cursor.line;
		e->top = e->cursor;
	}
	while (e->visible_count && above-- > 0 && previous_line(e, &e->top))
		;
	explorer_settle(e);
}

/* Returns the call chains of the cursor's row; NULL, with a message, if there are none. */
static struct explorer_fold *want_fold(struct explorer *e)
{
	if (e->visible_count == 0)
		return NULL;
	uint32_t row = e->visible[e->cursor.row];
	struct explorer_fold *fold = find_fold(e, row);
	if (!fold && !explorer_has_chains(e, row)) {
		explorer_say(e, "no call chains here");
		return NULL;
	}
	if (!fold) {
		fold = make_fold(e, row);
		if (fold)
			fold->is_open = false;
	}
	return fold;
}

bool explorer_can_toggle(const struct explorer *e)
{
	if (e->visible_count == 0)
		return false;
	const struct explorer_fold *fold = e->cursor.line ? explorer_fold_at(e, e->cursor.row) : NULL;
	if (!fold)
		return explorer_has_chains(e, e->visible[e->cursor.row]);
	return fold->nodes[fold->lines[e->cursor.line - 1].node].child_count > 0;
}

void explorer_toggle(struct explorer *e)
{
	struct explorer_fold *fold = want_fold(e);
	if (!fold)
		return;
	if (e->cursor.line == 0)
		fold->is_open = !fold->is_open;
	else
		explorer_fold_toggle(fold, fold->lines[e->cursor.line - 1].node);
	explorer_settle(e);
}

void explorer_toggle_row(struct explorer *e)
{
	struct explorer_fold *fold = want_fold(e);
	if (!fold)
		return;
	bool opens = !explorer_fold_is_all_open(fold);
	explorer_fold_set_all(fold, opens);
	if (!opens)
		e->cursor.line = 0;
	explorer_settle(e);
}

void explorer_close_row(struct explorer *e)
{
	struct explorer_fold *fold = want_fold(e);
	if (!fold)
		return;
	explorer_fold_set_all(fold, false);
	e->cursor.line = 0;
	explorer_settle(e);
}

void explorer_set_all(struct explorer *e, bool is_open)
{
	explorer_drop_folds(e);
	e->are_all_open = is_open;
	e->cursor.line = e->top.line = 0;
	explorer_settle(e);
}

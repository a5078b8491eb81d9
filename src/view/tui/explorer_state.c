#include "view/tui/explorer_state.h"
#include "base/error.h"
#include "view/text/report_cells.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FIXED_LINES 2 /* title and bottom line */

uint64_t explorer_row_period(const struct explorer *e, uint32_t table_row)
{
	const struct flat_stat *stat = flat_table_stat(e->table, table_row, 0);
	return e->table->options.with_children ? stat->children_period : stat->period;
}

bool explorer_has_chains(const struct explorer *e, uint32_t table_row)
{
	const struct flat_row *row = &e->table->rows[table_row];
	const struct chain_options *chains = &e->options.chains;
	if (!e->table->options.with_chains || chains->style == CHAIN_NONE || row->max_depth == 0)
		return false;
	double least = (double)report_member_total(&e->layout, 0) * chains->min_percent / 100;
	return chains->style == CHAIN_FRACTAL || (double)explorer_row_period(e, table_row) >= least;
}

static bool is_grouped_by(const struct explorer *e, enum profile_key key)
{
	for (size_t i = 0; i < e->table->options.key_count; i++)
		if (e->table->options.keys[i] == key)
			return true;
	return false;
}

static bool is_thread(const struct explorer *e, const struct flat_row *row)
{
	const struct profile *p = e->table->profile;
	const struct profile_thread *a = &p->threads[row->thread], *b = &p->threads[e->zoom_thread];
	if (is_grouped_by(e, KEY_PID))
		return a->tid == b->tid;
	if (is_grouped_by(e, KEY_TGID))
		return a->pid == b->pid;
	return a->comm == b->comm;
}

static bool has_symbol(const struct explorer *e, const struct flat_row *row)
{
	const struct profile *p = e->table->profile;
	uint32_t function = p->frames[row->frame].function;
	if (function == PROFILE_NONE)
		return false;
	struct tally_str name = profile_string(p, p->functions[function].name);
	return memmem(name.data, name.len, e->zoom_symbol, strlen(e->zoom_symbol)) != NULL;
}

bool explorer_is_zoomed(const struct explorer *e, enum explorer_zoom zoom)
{
	for (unsigned i = 0; i < e->zoom_count; i++)
		if (e->zooms[i] == zoom)
			return true;
	return false;
}

static bool is_visible(const struct explorer *e, uint32_t table_row, uint64_t total)
{
	const struct flat_row *row = &e->table->rows[table_row];
	double percent = total ? 100.0 * (double)explorer_row_period(e, table_row) / (double)total : 0;
	if (e->percent_limit > 0 && percent < e->percent_limit)
		return false;
	if (explorer_is_zoomed(e, ZOOM_THREAD) && !is_thread(e, row))
		return false;
	if (explorer_is_zoomed(e, ZOOM_DSO) && e->table->profile->frames[row->frame].binary != e->zoom_binary)
		return false;
	const struct profile_frame *frame = &e->table->profile->frames[row->frame];
	if (explorer_is_zoomed(e, ZOOM_FUNCTION) && frame->function != e->zoom_function)
		return false;
	if (explorer_is_zoomed(e, ZOOM_KERNEL) &&
		(frame->binary == PROFILE_NONE || !e->table->profile->binaries[frame->binary].is_kernel))
		return false;
	return !explorer_is_zoomed(e, ZOOM_SYMBOL) || has_symbol(e, row);
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

/* The row's chains if they show, built if need be. */
static struct explorer_fold *open_fold(struct explorer *e, size_t row)
{
	uint32_t table_row = e->visible[row];
	struct explorer_fold *fold = find_fold(e, table_row);
	if (!fold && e->are_all_open && explorer_has_chains(e, table_row))
		fold = make_fold(e, table_row);
	return fold && fold->is_open ? fold : NULL;
}

const struct explorer_fold *explorer_fold_at(const struct explorer *e, size_t row)
{
	const struct explorer_fold *fold = find_fold(e, e->visible[row]);
	return fold && fold->is_open ? fold : NULL;
}

uint32_t explorer_cursor_function(const struct explorer *e, struct tally_str *name)
{
	const struct profile *p = e->table->profile;
	if (e->visible_count == 0)
		return PROFILE_NONE;
	const struct explorer_fold *fold = e->cursor.line ? explorer_fold_at(e, e->cursor.row) : NULL;
	if (!fold && !is_grouped_by(e, KEY_SYMBOL))
		return PROFILE_NONE;
	uint32_t frame = e->table->rows[e->visible[e->cursor.row]].frame;
	if (fold) {
		const struct fold_line *line = &fold->lines[e->cursor.line - 1];
		frame = fold->frames[fold->nodes[line->node].first_frame + line->frame];
	}
	uint32_t function = p->frames[frame].function;
	if (function != PROFILE_NONE)
		*name = profile_string(p, p->functions[function].name);
	return function;
}

uint32_t explorer_function(struct explorer *e)
{
	struct tally_str name;
	uint32_t function = explorer_cursor_function(e, &name);
	if (function == PROFILE_NONE && e->visible_count && !e->cursor.line && !is_grouped_by(e, KEY_SYMBOL))
		explorer_say(e, "the row is of many functions: sort by symbol (s) to look into one");
	else if (function == PROFILE_NONE)
		explorer_say(e, "there is no symbol here");
	return function;
}

bool explorer_cursor_thread(const struct explorer *e, struct tally_str *name)
{
	const struct profile *p = e->table->profile;
	if (e->visible_count == 0 ||
		(!is_grouped_by(e, KEY_COMM) && !is_grouped_by(e, KEY_PID) && !is_grouped_by(e, KEY_TGID)))
		return false;
	*name = profile_string(p, p->threads[e->table->rows[e->visible[e->cursor.row]].thread].comm);
	return true;
}

bool explorer_cursor_object(const struct explorer *e, struct tally_str *name)
{
	const struct profile *p = e->table->profile;
	if (e->visible_count == 0 || (!is_grouped_by(e, KEY_DSO) && !is_grouped_by(e, KEY_SYMBOL)))
		return false;
	uint32_t binary = p->frames[e->table->rows[e->visible[e->cursor.row]].frame].binary;
	*name = binary == PROFILE_NONE ? STR("[unknown]") : profile_string(p, p->binaries[binary].name);
	return true;
}

static size_t last_line(struct explorer *e, size_t row)
{
	const struct explorer_fold *fold = open_fold(e, row);
	return fold ? fold->line_count : 0;
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

static bool is_same(struct explorer_position a, struct explorer_position b)
{
	return a.row == b.row && a.line == b.line;
}

unsigned explorer_page(const struct explorer *e)
{
	unsigned fixed = FIXED_LINES + !e->hides_headers;
	return e->rows > fixed ? e->rows - fixed : 1;
}

static void clamp(struct explorer *e, struct explorer_position *position)
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

/* Scrolls to where the cursor is, and has the chains of all lines in view built. */
static void settle(struct explorer *e)
{
	unsigned page = explorer_page(e);
	clamp(e, &e->cursor);
	clamp(e, &e->top);
	if (is_before(e->cursor, e->top))
		e->top = e->cursor;
	struct explorer_position at = e->top;
	bool has_cursor = is_same(at, e->cursor);
	unsigned lines = 1;
	for (; lines < page && explorer_next_line(e, &at); lines++)
		has_cursor = has_cursor || is_same(at, e->cursor);
	if (!has_cursor) {
		e->top = e->cursor;
		for (lines = 1; lines < page && previous_line(e, &e->top); lines++)
			;
	} else {
		/* No empty lines at the end while there is something above. */
		for (; lines < page && previous_line(e, &e->top); lines++)
			;
	}
}

void explorer_resize(struct explorer *e, unsigned rows, unsigned columns)
{
	e->rows = rows;
	e->columns = columns;
	if (e->mode == EXPLORER_MENU)
		tui_menu_fit(&e->menu, rows, columns);
	settle(e);
}

void explorer_move(struct explorer *e, long lines)
{
	for (; lines > 0 && explorer_next_line(e, &e->cursor); lines--)
		;
	for (; lines < 0 && previous_line(e, &e->cursor); lines++)
		;
	settle(e);
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
	settle(e);
	return true;
}

void explorer_home(struct explorer *e)
{
	e->cursor = e->top = (struct explorer_position){0};
	settle(e);
}

void explorer_end(struct explorer *e)
{
	e->cursor = (struct explorer_position){.row = e->visible_count, .line = 0};
	clamp(e, &e->cursor);
	if (e->visible_count)
		e->cursor.line = last_line(e, e->cursor.row);
	settle(e);
}

static void drop_folds(struct explorer *e)
{
	for (size_t i = 0; i < e->folds.len; i++)
		explorer_fold_deinit(&e->folds.items[i]);
	vec_free(&e->folds);
	map_u64_deinit(&e->fold_of_row);
	e->fold_of_row = (struct map_u64){0};
}

/* Percentages become those of the rows that show. Chains have them too. */
static void relate_to_shown(struct explorer *e)
{
	uint32_t members = e->table->options.member_count;
	memset(e->shown_totals, 0, members * sizeof(*e->shown_totals));
	for (size_t i = 0; i < e->visible_count; i++)
		for (uint32_t m = 0; m < members; m++)
			e->shown_totals[m] += flat_table_stat(e->table, e->visible[i], m)->period;
	e->layout.shown_totals = e->shown_totals;
	drop_folds(e);
	e->cursor.line = 0;
}

/* The cursor stays on its row, if that is still there. */
void explorer_select_rows(struct explorer *e)
{
	uint32_t kept = e->visible_count ? e->visible[e->cursor.row] : PROFILE_NONE;
	e->layout.shown_totals = NULL;
	uint64_t total = report_member_total(&e->layout, 0);
	bool is_kept = false;
	size_t count = 0;
	for (size_t i = 0; i < e->table->shown_count; i++) {
		uint32_t row = e->table->order[i];
		if (!is_visible(e, row, total))
			continue;
		if (row == kept) {
			is_kept = true;
			e->cursor.row = count;
		}
		e->visible[count++] = row;
	}
	e->visible_count = count;
	if (e->is_relative)
		relate_to_shown(e);
	if (!is_kept)
		e->cursor = (struct explorer_position){0};
	e->top = (struct explorer_position){0};
	settle(e);
}

static bool has_field(const struct explorer *e, enum profile_key key)
{
	for (size_t i = 0; i < e->field_count; i++)
		if (e->fields[i].key == key)
			return true;
	return false;
}

/* The report's columns, and behind its values those that it could have. */
static void list_fields(struct explorer *e)
{
	static const enum profile_key more[EXPLORER_MORE_FIELDS] = {KEY_OVERHEAD, KEY_SAMPLE, KEY_PERIOD};
	const struct report_text_options *o = &e->options;
	size_t next = 0;
	for (; next < o->column_count && profile_key_get(o->columns[next])->is_value; next++)
		e->fields[e->field_count++] = (struct explorer_field){o->columns[next], true};
	for (size_t i = 0; i < EXPLORER_MORE_FIELDS; i++)
		if (!has_field(e, more[i]))
			e->fields[e->field_count++] = (struct explorer_field){more[i], false};
	for (; next < o->column_count; next++)
		e->fields[e->field_count++] = (struct explorer_field){o->columns[next], true};
}

static void fit_columns(struct explorer *e)
{
	struct report_layout fresh = {.table = e->table,
		.options = &e->options,
		.profile = e->table->profile,
		.shown_totals = e->layout.shown_totals};
	e->options.columns = e->columns_shown;
	e->options.column_count = 0;
	for (size_t i = 0; i < e->field_count && e->options.column_count < REPORT_MAX_COLUMNS; i++)
		if (e->fields[i].is_shown)
			e->columns_shown[e->options.column_count++] = e->fields[i].key;
	e->layout = fresh;
	report_layout_fit(&e->layout);
}

void explorer_switch_field(struct explorer *e, enum profile_key key)
{
	for (size_t i = 0; i < e->field_count; i++) {
		if (e->fields[i].key != key)
			continue;
		bool is_last = e->fields[i].is_shown && e->options.column_count == 1;
		if (is_last)
			explorer_say(e, "the last column stays");
		else
			e->fields[i].is_shown = !e->fields[i].is_shown;
	}
	fit_columns(e);
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
	settle(e);
}

static void drop_table(struct explorer *e)
{
	call_tree_deinit(&e->builder);
	free(e->visible);
	free(e->shown_totals);
	e->visible = NULL;
	e->shown_totals = NULL;
}

/* Its rows are not selected yet. */
static enum tally_status take_table(struct explorer *e, const struct flat_table *table, struct tally_error *err)
{
	e->table = table;
	e->layout = (struct report_layout){.table = table, .options = &e->options, .profile = table->profile};
	enum tally_status status = call_tree_init(&e->builder, table, err);
	if (status != TALLY_OK)
		return status;
	e->visible = malloc((table->shown_count + 1) * sizeof(*e->visible));
	e->shown_totals = calloc(table->options.member_count + 1, sizeof(*e->shown_totals));
	if (!e->visible || !e->shown_totals)
		return error_nomem(err);
	fit_columns(e);
	return TALLY_OK;
}

enum tally_status explorer_init(struct explorer *e, const struct flat_table *table,
	const struct report_text_options *options, const char *title, struct tally_error *err)
{
	*e = (struct explorer){.options = *options, .title = title, .rows = 24, .columns = 80};
	e->options.separator = NULL;
	e->options.with_colours = e->options.chains.with_colours = false; /* the grid has its own */
	e->percent_limit = options->percent_limit;
	list_fields(e);
	enum tally_status status = take_table(e, table, err);
	if (status == TALLY_OK)
		explorer_select_rows(e);
	else
		explorer_deinit(e);
	return status;
}

enum tally_status explorer_set_table(
	struct explorer *e, const struct flat_table *table, const char *title, struct tally_error *err)
{
	drop_folds(e);
	drop_table(e);
	e->title = title;
	e->visible_count = 0;
	e->cursor = e->top = (struct explorer_position){0};
	return take_table(e, table, err);
}

void explorer_deinit(struct explorer *e)
{
	drop_folds(e);
	drop_table(e);
	*e = (struct explorer){0};
}

/* Of the cursor's row; NULL after it was said that there are none. */
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
	settle(e);
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
	settle(e);
}

void explorer_close_row(struct explorer *e)
{
	struct explorer_fold *fold = want_fold(e);
	if (!fold)
		return;
	explorer_fold_set_all(fold, false);
	e->cursor.line = 0;
	settle(e);
}

void explorer_set_all(struct explorer *e, bool is_open)
{
	drop_folds(e);
	e->are_all_open = is_open;
	e->cursor.line = e->top.line = 0;
	settle(e);
}

static void zoom_in(struct explorer *e, enum explorer_zoom zoom)
{
	e->zooms[e->zoom_count++] = zoom;
	explorer_select_rows(e);
}

static void zoom_off(struct explorer *e, enum explorer_zoom zoom)
{
	unsigned kept = 0;
	for (unsigned i = 0; i < e->zoom_count; i++)
		if (e->zooms[i] != zoom)
			e->zooms[kept++] = e->zooms[i];
	e->zoom_count = kept;
	explorer_select_rows(e);
}

void explorer_zoom_function(struct explorer *e)
{
	if (explorer_is_zoomed(e, ZOOM_FUNCTION)) {
		zoom_off(e, ZOOM_FUNCTION);
		return;
	}
	uint32_t function = explorer_function(e);
	if (function == PROFILE_NONE)
		return;
	e->zoom_function = function;
	zoom_in(e, ZOOM_FUNCTION);
	if (e->visible_count == 0)
		explorer_say(e, "no row is of this function: Esc takes it back");
}

void explorer_zoom_kernel(struct explorer *e)
{
	if (explorer_is_zoomed(e, ZOOM_KERNEL)) {
		zoom_off(e, ZOOM_KERNEL);
		return;
	}
	if (!is_grouped_by(e, KEY_DSO) && !is_grouped_by(e, KEY_SYMBOL)) {
		explorer_say(e, "rows are of all objects: sort by dso or symbol (s) to zoom into the kernel");
		return;
	}
	zoom_in(e, ZOOM_KERNEL);
	if (e->visible_count == 0)
		explorer_say(e, "no row is of the kernel: Esc takes it back");
}

void explorer_zoom_thread(struct explorer *e)
{
	if (explorer_is_zoomed(e, ZOOM_THREAD)) {
		zoom_off(e, ZOOM_THREAD);
		return;
	}
	struct tally_str name;
	if (e->visible_count == 0)
		return;
	if (!explorer_cursor_thread(e, &name)) {
		explorer_say(e, "rows are of all threads: sort by comm or pid (s) to zoom into one");
		return;
	}
	e->zoom_thread = e->table->rows[e->visible[e->cursor.row]].thread;
	zoom_in(e, ZOOM_THREAD);
}

void explorer_zoom_dso(struct explorer *e)
{
	if (explorer_is_zoomed(e, ZOOM_DSO)) {
		zoom_off(e, ZOOM_DSO);
		return;
	}
	if (!is_grouped_by(e, KEY_DSO) && !is_grouped_by(e, KEY_SYMBOL)) {
		explorer_say(e, "rows are of all objects: sort by dso or symbol (s) to zoom into one");
		return;
	}
	if (e->visible_count == 0)
		return;
	const struct flat_row *row = &e->table->rows[e->visible[e->cursor.row]];
	e->zoom_binary = e->table->profile->frames[row->frame].binary;
	zoom_in(e, ZOOM_DSO);
}

void explorer_zoom_symbol(struct explorer *e, const char *part)
{
	zoom_off(e, ZOOM_SYMBOL);
	if (!*part)
		return;
	if (!is_grouped_by(e, KEY_SYMBOL)) {
		explorer_say(e, "rows are of all symbols: sort by symbol (s) to filter by it");
		return;
	}
	snprintf(e->zoom_symbol, sizeof(e->zoom_symbol), "%s", part);
	zoom_in(e, ZOOM_SYMBOL);
	if (e->visible_count == 0)
		explorer_say(e, "no symbol has '%s' in it: Esc takes it back", part);
}

bool explorer_zoom_out(struct explorer *e)
{
	if (e->zoom_count == 0)
		return false;
	zoom_off(e, e->zooms[e->zoom_count - 1]);
	return true;
}

void explorer_step_percent_limit(struct explorer *e, bool is_up)
{
	static const double steps[] = {0, 0.1, 0.5, 1, 2, 5, 10, 20, 50};
	size_t count = sizeof(steps) / sizeof(steps[0]), i = is_up ? 0 : count - 1;
	while (is_up && i + 1 < count && steps[i] <= e->percent_limit)
		i++;
	while (!is_up && i > 0 && steps[i] >= e->percent_limit)
		i--;
	explorer_set_percent_limit(e, steps[i]);
}

void explorer_switch_relative(struct explorer *e)
{
	e->is_relative = !e->is_relative;
	drop_folds(e);
	e->cursor.line = 0;
	explorer_select_rows(e);
	explorer_say(e, "percentages are of %s", e->is_relative ? "what is shown" : "all samples");
}

void explorer_reorder(struct explorer *e)
{
	explorer_select_rows(e);
}

static bool has_pattern(const struct explorer *e, const struct flat_row *row)
{
	const struct profile *p = e->table->profile;
	const struct profile_frame *frame = &p->frames[row->frame];
	struct tally_str names[3] = {profile_string(p, p->threads[row->thread].comm)};
	size_t len = strlen(e->pattern);
	if (frame->function != PROFILE_NONE)
		names[1] = profile_string(p, p->functions[frame->function].name);
	if (frame->binary != PROFILE_NONE)
		names[2] = profile_string(p, p->binaries[frame->binary].name);
	bool shows[3] = {is_grouped_by(e, KEY_COMM), is_grouped_by(e, KEY_SYMBOL), is_grouped_by(e, KEY_DSO)};
	for (size_t i = 0; i < 3; i++)
		if (shows[i] && names[i].len && memmem(names[i].data, names[i].len, e->pattern, len))
			return true;
	return false;
}

void explorer_search(struct explorer *e, bool is_back)
{
	size_t count = e->visible_count, from = e->cursor.row;
	for (size_t i = 1; i <= count; i++) {
		size_t at = (from + (is_back ? count - i : i)) % count;
		if (!has_pattern(e, &e->table->rows[e->visible[at]]))
			continue;
		bool is_round = is_back ? at >= from : at <= from;
		e->cursor = (struct explorer_position){.row = at};
		settle(e);
		if (is_round)
			explorer_say(e, "searched on from the other end");
		return;
	}
	explorer_say(e, "no row has '%.100s' in it", e->pattern);
}

void explorer_set_percent_limit(struct explorer *e, double percent)
{
	e->percent_limit = percent;
	explorer_select_rows(e);
}

void explorer_say(struct explorer *e, const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	vsnprintf(e->message, sizeof(e->message), format, arguments);
	va_end(arguments);
}

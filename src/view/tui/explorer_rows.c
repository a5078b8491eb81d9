/* SPDX-License-Identifier: Apache-2.0 */
#include "view/tui/explorer_rows.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "view/text/report_cells.h"
#include "view/tui/explorer_changes.h"
#include "view/tui/explorer_lines.h"

uint32_t explorer_cursor_function(const struct explorer *e, struct tally_str *name)
{
	const struct profile *p = e->table->profile;
	if (e->visible_count == 0)
		return PROFILE_NONE;
	const struct explorer_fold *fold = e->cursor.line ? explorer_fold_at(e, e->cursor.row) : NULL;
	if (!fold && !explorer_is_grouped_by(e, KEY_SYMBOL))
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
	if (function == PROFILE_NONE && e->visible_count && !e->cursor.line && !explorer_is_grouped_by(e, KEY_SYMBOL))
		explorer_say(e, "the row is of many functions: sort by symbol (s) to look into one");
	else if (function == PROFILE_NONE)
		explorer_say(e, "there is no symbol here");
	return function;
}

bool explorer_cursor_thread(const struct explorer *e, struct tally_str *name)
{
	const struct profile *p = e->table->profile;
	if (e->visible_count == 0 || (!explorer_is_grouped_by(e, KEY_COMM) && !explorer_is_grouped_by(e, KEY_PID) &&
					     !explorer_is_grouped_by(e, KEY_TGID)))
		return false;
	*name = profile_string(p, p->threads[e->table->rows[e->visible[e->cursor.row]].thread].comm);
	return true;
}

bool explorer_cursor_object(const struct explorer *e, struct tally_str *name)
{
	const struct profile *p = e->table->profile;
	if (e->visible_count == 0 || (!explorer_is_grouped_by(e, KEY_DSO) && !explorer_is_grouped_by(e, KEY_SYMBOL)))
		return false;
	uint32_t binary = p->frames[e->table->rows[e->visible[e->cursor.row]].frame].binary;
	*name = binary == PROFILE_NONE ? STR("[unknown]") : profile_string(p, p->binaries[binary].name);
	return true;
}

static uint64_t explorer_rows_socket_of(const struct explorer *e, const struct flat_row *row)
{
	const struct profile_value *socket = profile_facet(e->table->profile, row->facets, FACET_SOCKET);
	return socket ? socket->number : UINT64_MAX;
}

bool explorer_cursor_socket(const struct explorer *e, uint64_t *socket)
{
	if (e->visible_count == 0 || !explorer_is_grouped_by(e, KEY_SOCKET))
		return false;
	*socket = explorer_rows_socket_of(e, &e->table->rows[e->visible[e->cursor.row]]);
	return true;
}

static bool is_thread(const struct explorer *e, const struct flat_row *row)
{
	const struct profile *p = e->table->profile;
	const struct profile_thread *a = &p->threads[row->thread], *b = &p->threads[e->zoom_thread];
	if (explorer_is_grouped_by(e, KEY_PID))
		return a->tid == b->tid;
	if (explorer_is_grouped_by(e, KEY_TGID))
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

static bool explorer_rows_is_visible(const struct explorer *e, uint32_t table_row, uint64_t total)
{
	const struct flat_row *row = &e->table->rows[table_row];
	double percent = total ? 100.0 * (double)explorer_row_period(e, table_row) / (double)total : 0;
	if (e->percent_limit > 0 && percent < e->percent_limit)
		return false;
	if (e->changes && fabs(e->changes[table_row]) < EXPLORER_LEAST_CHANGE)
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
	if (explorer_is_zoomed(e, ZOOM_SOCKET) && explorer_rows_socket_of(e, row) != e->zoom_socket)
		return false;
	return !explorer_is_zoomed(e, ZOOM_SYMBOL) || has_symbol(e, row);
}

/* Relates percentages to the visible rows. Call chains are dropped, because they show percentages too. */
static void relate_to_shown(struct explorer *e)
{
	uint32_t members = e->table->options.member_count;
	memset(e->shown_totals, 0, members * sizeof(*e->shown_totals));
	for (size_t i = 0; i < e->visible_count; i++)
		for (uint32_t m = 0; m < members; m++)
			e->shown_totals[m] += flat_table_stat(e->table, e->visible[i], m)->period;
	e->layout.shown_totals = e->shown_totals;
	explorer_drop_folds(e);
	e->cursor.line = 0;
}

void explorer_select_rows(struct explorer *e)
{
	uint32_t kept = e->visible_count ? e->visible[e->cursor.row] : PROFILE_NONE;
	e->layout.shown_totals = NULL;
	explorer_compare(e);
	uint64_t total = report_member_total(&e->layout, 0);
	bool is_kept = false;
	size_t count = 0;
	for (size_t i = 0; i < e->table->shown_count; i++) {
		uint32_t row = e->table->order[i];
		if (!explorer_rows_is_visible(e, row, total))
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
	explorer_settle(e);
}

void explorer_set_mark(struct explorer *e, const struct explorer_mark *mark)
{
	e->mark = mark;
	free(e->changes);
	e->changes = NULL;
	explorer_select_rows(e);
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

void explorer_zoom_socket(struct explorer *e)
{
	if (explorer_is_zoomed(e, ZOOM_SOCKET))
		zoom_off(e, ZOOM_SOCKET);
	else if (explorer_cursor_socket(e, &e->zoom_socket))
		zoom_in(e, ZOOM_SOCKET);
	else if (!explorer_is_grouped_by(e, KEY_SOCKET))
		explorer_say(e, "rows are of all sockets: sort by socket (s) to zoom into one");
}

void explorer_zoom_kernel(struct explorer *e)
{
	if (explorer_is_zoomed(e, ZOOM_KERNEL)) {
		zoom_off(e, ZOOM_KERNEL);
		return;
	}
	if (!explorer_is_grouped_by(e, KEY_DSO) && !explorer_is_grouped_by(e, KEY_SYMBOL)) {
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
	if (!explorer_is_grouped_by(e, KEY_DSO) && !explorer_is_grouped_by(e, KEY_SYMBOL)) {
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
	if (!explorer_is_grouped_by(e, KEY_SYMBOL)) {
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

void explorer_set_percent_limit(struct explorer *e, double percent)
{
	e->percent_limit = percent;
	explorer_select_rows(e);
}

void explorer_step_percent_limit(struct explorer *e, bool is_up)
{
	static const double steps[] = {0, 0.1, 0.5, 1, 2, 5, 10, 20, 50};
	size_t count = ARRAY_LEN(steps), i = is_up ? 0 : count - 1;
	while (is_up && i + 1 < count && steps[i] <= e->percent_limit)
		i++;
	while (!is_up && i > 0 && steps[i] >= e->percent_limit)
		i--;
	explorer_set_percent_limit(e, steps[i]);
}

void explorer_switch_relative(struct explorer *e)
{
	e->is_relative = !e->is_relative;
	explorer_drop_folds(e);
	e->cursor.line = 0;
	explorer_select_rows(e);
	explorer_say(e, "percentages are of %s", e->is_relative ? "what is shown" : "all samples");
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
	bool shows[3] = {explorer_is_grouped_by(e, KEY_COMM), explorer_is_grouped_by(e, KEY_SYMBOL),
		explorer_is_grouped_by(e, KEY_DSO)};
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
		explorer_settle(e);
		if (is_round)
			explorer_say(e, "searched on from the other end");
		return;
	}
	explorer_say(e, "no row has '%.100s' in it", e->pattern);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "view/text/report_cells.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/array.h"
#include "base/thread_pool.h"
#include "view/text/facet_cells.h"
#include "view/text/origin_text.h"
#include "view/text/percent_text.h"

#define REPORT_CELLS_ROWS_AHEAD	 4
#define PART_WIDTH		 7
#define INLINED			 " (inlined)"
#define COLUMN_GAP		 2
#define CUT_NAME_MIN		 12
#define REPORT_CELLS_LEVEL_WIDTH 4 /* The prefix "[k] ". */
#define ID_WIDTH		 8 /* The prefix "  16511:" of a command. */
#define SYMBOL_UNRESOLVED_WIDTH	 (REPORT_CELLS_LEVEL_WIDTH + 2 + REPORT_ADDRESS_DIGITS)

/* perf shows the last name of a thread beside its ID, and makes the command column as wide as that name. */
static struct tally_str last_comm(const struct report_layout *l, const struct flat_row *row)
{
	const struct profile *p = l->profile;
	return profile_string(p, p->threads[row->thread].last_comm);
}

static struct tally_str process_comm(const struct report_layout *l, const struct flat_row *row)
{
	const struct profile *p = l->profile;
	return profile_string(p, p->threads[row->thread].process_comm);
}

/* Prints "  16511:make". */
static void put_owner(struct text *out, int32_t id, struct tally_str name, size_t width)
{
	text_printf(out, "%*d:", ID_WIDTH - 1, id);
	text_str_cut(out, name, width > ID_WIDTH ? width - ID_WIDTH : SIZE_MAX);
}

static struct tally_str row_binary(const struct report_layout *l, const struct flat_row *row)
{
	return report_object_name(l, l->profile->frames[row->frame].binary);
}

static const struct profile_function *row_function(const struct profile *p, const struct flat_row *row)
{
	uint32_t function = p->frames[row->frame].function;
	return function == PROFILE_NONE ? NULL : &p->functions[function];
}

void report_expect_name(const struct profile *p, const struct flat_row *row, unsigned step)
{
	const struct profile_frame *frame = &p->frames[row->frame];
	if (step == 0)
		__builtin_prefetch(frame);
	if (step == 0 || frame->function == PROFILE_NONE)
		return;
	const struct profile_function *function = &p->functions[frame->function];
	if (step == 1)
		__builtin_prefetch(function);
	else if (step == 2)
		__builtin_prefetch(&p->strings.strings[function->name]);
	else
		__builtin_prefetch(profile_string(p, function->name).data);
}

static struct tally_str row_parent(const struct profile *p, const struct flat_row *row)
{
	return row->parent == PROFILE_NONE ? STR("[other]") : profile_string(p, p->functions[row->parent].name);
}

/*
 * perf makes the text of a tracepoint when it first compares two samples, and fits the column to the existing texts.
 * Callers are compared with the samples that they called, so with children sums one sample is enough.
 */
static bool is_compared(const struct report_layout *l)
{
	uint64_t samples = l->table->options.with_children;
	for (uint32_t m = 0; m < l->table->options.member_count; m++)
		samples += l->table->totals[m].count;
	return samples > 1;
}

size_t report_cell_width(const struct report_layout *l, enum profile_key key, const struct flat_row *row)
{
	const struct profile *p = l->profile;
	const struct profile_function *function = row_function(p, row);
	switch ((int)key) {
	case KEY_PID:
		return text_cells(last_comm(l, row)) + ID_WIDTH;
	case KEY_TGID:
		return text_cells(process_comm(l, row)) + ID_WIDTH;
	case KEY_COMM:
		return text_cells(last_comm(l, row));
	case KEY_PARENT:
		return text_cells(row_parent(p, row));
	case KEY_TRACE:
		return is_compared(l) ? facet_cell_width(l, key, row) : 0;
	case KEY_SRCLINE:
		return text_cells(profile_string(p, row->place.line));
	case KEY_SRCFILE:
		return text_cells(profile_string(p, row->place.file));
	case KEY_DSO:
		return text_cells(row_binary(l, row));
	case KEY_SYMBOL:
		return function ? text_cells(profile_string(p, function->name)) + report_origin_width(l) +
					  REPORT_CELLS_LEVEL_WIDTH + (function->is_inlined ? strlen(INLINED) : 0)
				: SYMBOL_UNRESOLVED_WIDTH;
	default:
		return facet_cell_width(l, key, row);
	}
}

uint64_t report_member_total(const struct report_layout *l, uint32_t member)
{
	const struct flat_total *total = &l->table->totals[member];
	if (l->shown_totals)
		return l->shown_totals[member];
	return flat_total_period(total, l->options->is_relative);
}

uint64_t report_value_total(const struct report_layout *l, uint32_t member, enum profile_key key)
{
	const struct flat_total *total = &l->table->totals[member];
	if (key != KEY_LATENCY && key != KEY_LATENCY_CHILDREN)
		return report_member_total(l, member);
	return l->options->is_relative ? total->passed_latency : total->latency;
}

/* Prints the parts of a sum, such as loads and stores, in percent of the total of the group's first event. */
static void print_parts(const struct report_layout *l, struct text *out, size_t column, const struct flat_stat *stats)
{
	const uint64_t *sums = flat_table_parts(l->table, stats, l->columns[column]);
	uint64_t total = report_member_total(l, 0);
	for (unsigned part = 0; part < PROFILE_PARTS; part++)
		if (l->parts[column] >> part & 1)
			text_printf(
				out, "%*.1f%%", PART_WIDTH - 1, total ? 100.0 * (double)sums[part] / (double)total : 0);
}

void report_value_cell(const struct report_layout *l, struct text *out, size_t column, const struct flat_stat *stats)
{
	enum profile_key key = l->columns[column];
	if (profile_key_get(key)->parts) {
		print_parts(l, out, column, stats);
		return;
	}
	uint32_t members = l->table->options.member_count;
	size_t width = l->cells[column];
	if (key == KEY_OVERHEAD_CHILDREN && !l->table->options.with_children) {
		text_str_right(out, STR("N/A"), width); /* Without children, no event of the group has such sums. */
		return;
	}
	for (uint32_t m = 0; m < members; m++) {
		uint64_t value = flat_stat_value(l->table, flat_member_stat(l->table, stats, m), key);
		uint64_t total = report_value_total(l, m, key);
		double percent = total ? 100.0 * (double)value / (double)total : 0;
		bool is_percent = profile_key_get(key)->is_percent;
		/* A blank precedes numbers, however wide they are. */
		bool has_blank = l->options->separator || !is_percent || width < REPORT_PERCENT_WIDTH;
		if (has_blank)
			text_char(out, ' ');
		size_t wanted = l->options->separator ? 0 : width - (has_blank && width > 0);
		if (profile_key_get(key)->is_average)
			text_printf(out, "%*.1f", (int)wanted, (double)value / 1000);
		else if (profile_key_get(key)->is_duration)
			text_printf(out, "%*.3f", (int)wanted, (double)value / 1e6);
		else if (is_percent)
			percent_text(out, percent, wanted, l->options->with_colours);
		else
			text_u64_right(out, value, wanted);
	}
}

static void print_symbol_cell(const struct report_layout *l, struct text *out, size_t width, const struct flat_row *row)
{
	report_origin(l, out, l->profile->frames[row->frame].binary, row->address);
	const struct profile_function *function = row_function(l->profile, row);
	const char level[REPORT_CELLS_LEVEL_WIDTH] = {'[', row->level ? (char)row->level : 'H', ']', ' '};
	text_bytes(out, level, REPORT_CELLS_LEVEL_WIDTH);
	if (function) {
		struct tally_str name = profile_string(l->profile, function->name);
		size_t prefix = report_origin_width(l) + REPORT_CELLS_LEVEL_WIDTH,
		       room = width > prefix ? width - prefix : 0;
		size_t start = out->len;
		struct tally_str shown = text_cells_cut(name, room);
		text_bytes(out, shown.data, shown.len);
		size_t cells = function->is_inlined && shown.len == name.len ? text_cells_from(out, start) : room;
		if (cells < room)
			text_bytes(out, INLINED, MIN(room - cells, strlen(INLINED)));
		return;
	}
	text_str(out, row->address ? "0x" : "");
	text_hex(out, row->address, REPORT_ADDRESS_DIGITS);
}

/* Prints a figure of the branches of all chains of the row: the share of predicted ones, aborts, or mean cycles. */
static void print_branches_cell(
	const struct report_layout *l, struct text *out, size_t column, const struct flat_row *row)
{
	struct flat_branches sums = flat_row_branches(l->table, row);
	char cell[32];
	if (l->columns[column] == KEY_CHAIN_PREDICTED)
		snprintf(cell, sizeof(cell), "%.1f%%",
			sums.targets ? 100.0 * (double)sums.predicted / (double)sums.targets : 0);
	else if (l->columns[column] == KEY_CHAIN_ABORTS)
		snprintf(cell, sizeof(cell), "%" PRIu64, sums.aborts);
	else
		snprintf(cell, sizeof(cell), "%" PRIu64, sums.sources ? sums.cycles / sums.sources : 0);
	text_str_left(out, str_from(cell), l->widths[column]);
}

void report_key_cell(const struct report_layout *l, struct text *out, size_t column, const struct flat_row *row)
{
	const struct profile *p = l->profile;
	const struct profile_thread *thread = &p->threads[row->thread];
	size_t width = l->widths[column];
	const struct profile_function *function;
	struct tally_str label;
	switch ((int)l->columns[column]) {
	case KEY_PID:
		put_owner(out, thread->tid, last_comm(l, row), width);
		break;
	case KEY_TGID:
		put_owner(out, thread->pid, process_comm(l, row), width);
		break;
	case KEY_COMM:
		text_str_cut(out, profile_string(p, p->threads[row->thread].comm), width);
		break;
	case KEY_PARENT:
		text_str_cut(out, row_parent(p, row), width);
		break;
	case KEY_SRCLINE:
		label = text_cells_cut(profile_string(p, row->place.line), width);
		text_bytes(out, label.data, label.len);
		break;
	case KEY_SRCFILE:
		label = text_cells_cut(profile_string(p, row->place.file), width);
		text_bytes(out, label.data, label.len);
		break;
	case KEY_DSO:
		text_str_cut(out, row_binary(l, row), width);
		break;
	case KEY_SYMBOL:
		print_symbol_cell(l, out, width, row);
		break;
	case KEY_CPU:
		text_printf(out, "%*.*d", (int)width, (int)width, row->cpu);
		break;
	case KEY_SYMBOL_SIZE:
		function = row_function(p, row);
		if (function)
			text_u64_right(out, function->size, width);
		else
			text_str_right(out, STR("unknown"), width);
		break;
	case KEY_IPC_NULL:
		text_str_left(out, STR("-      -"), width);
		break;
	case KEY_CHAIN_PREDICTED:
	case KEY_CHAIN_ABORTS:
	case KEY_CHAIN_CYCLES:
		print_branches_cell(l, out, column, row);
		break;
	case KEY_IPC_LBR:
		text_str_left(out, STR("-"), width);
		break;
	default:
		facet_cell(l, out, column, row);
		break;
	}
}

void report_mask_separator(const struct report_layout *l, struct text *out, size_t column, size_t start)
{
	enum profile_key key = l->columns[column];
	const char *separator = l->options->separator;
	/* Found by running perf: values and fields of tracepoints are not masked, and only the separator's first
	 * character counts. */
	if (!separator || !separator[0] || key >= KEY_FIELD || profile_key_get(key)->is_value || out->failed)
		return;
	for (size_t i = start; i < out->len; i++)
		if (out->data[i] == separator[0])
			out->data[i] = '.';
}

const char *report_column_header(const struct report_layout *l, enum profile_key key)
{
	if (key == KEY_OVERHEAD && l->options->with_children && l->table->options.with_children)
		return "Self";
	if (key >= KEY_FIELD)
		return profile_string(l->profile, l->profile->fields[key - KEY_FIELD].name).data;
	return profile_key_get(key)->header;
}

void report_header_cell(const struct report_layout *l, struct text *out, size_t column, size_t width)
{
	enum profile_key key = l->columns[column];
	const char *const *parts = profile_key_get(key)->parts;
	for (unsigned part = 0; parts && parts[part]; part++)
		if (l->parts[column] >> part & 1)
			text_str_right(out, str_from(parts[part]), PART_WIDTH);
	struct tally_str header = str_from(report_column_header(l, key));
	if (!parts && (profile_key_get(key)->is_value || key >= KEY_FIELD))
		text_str_right(out, header, width);
	else if (!parts)
		text_str_cut(out, header, width);
	else if (l->widths[column] > l->cells[column])
		text_repeat(out, ' ', l->widths[column] - l->cells[column]);
}

bool report_has_upper_header(const struct report_layout *l)
{
	for (size_t i = 0; i < l->count; i++)
		if (profile_key_get(l->columns[i])->parts)
			return true;
	return false;
}

void report_upper_header_cell(const struct report_layout *l, struct text *out, size_t column)
{
	enum profile_key key = l->columns[column];
	if (!profile_key_get(key)->parts) {
		text_repeat(out, ' ', l->widths[column]);
		return;
	}
	struct tally_str name = str_from(report_column_header(l, key));
	size_t width = l->cells[column];
	if (width <= PART_WIDTH) {
		text_str_right(out, name, width);
	} else {
		size_t dashes = width - name.len - 2;
		text_repeat(out, '-', dashes / 2);
		text_printf(out, " %s ", name.data);
		text_repeat(out, '-', dashes - dashes / 2);
	}
	if (l->widths[column] > width)
		text_repeat(out, ' ', l->widths[column] - width);
}

/* Hides the parts of a sum (such as loads and stores) that no row has, but shows at least one. */
static void fit_parts(struct report_layout *l, size_t column)
{
	const struct flat_table *t = l->table;
	size_t shown = 0;
	l->parts[column] = 0;
	for (size_t row = 0; row < t->row_count; row++) {
		const uint64_t *sums = flat_table_parts(t, flat_table_stat(t, row, 0), l->columns[column]);
		for (unsigned part = 0; part < PROFILE_PARTS; part++)
			l->parts[column] |= (uint8_t)((sums[part] > 0) << part);
	}
	if (!l->parts[column])
		l->parts[column] = 1;
	for (unsigned part = 0; part < PROFILE_PARTS; part++)
		shown += l->parts[column] >> part & 1;
	l->cells[column] = shown * PART_WIDTH;
	l->widths[column] = l->cells[column] * t->options.member_count;
}

/* Sets the width of a column as far as it does not depend on the texts of its rows. */
static void fit_header(struct report_layout *l, size_t column)
{
	enum profile_key key = l->columns[column];
	if (profile_key_get(key)->parts) {
		fit_parts(l, column);
		return;
	}
	size_t width = strlen(report_column_header(l, key));
	/* If there are rows, a column has at least the width of its key; transactions always have it. */
	if ((l->table->row_count > 0 || key == KEY_TRANSACTION) && width < profile_key_get(key)->width)
		width = profile_key_get(key)->width;
	if (profile_key_get(key)->is_value) {
		bool is_narrow = profile_key_get(key)->is_percent || profile_key_get(key)->is_average;
		size_t each = is_narrow ? REPORT_PERCENT_WIDTH : REPORT_VALUE_WIDTH;
		l->cells[column] = width > each || profile_key_get(key)->width ? width : each;
		width = l->cells[column] * l->table->options.member_count;
	}
	l->widths[column] = width;
}

#define FIT_TASKS     64
#define FIT_TASK_ROWS 4096 /* Minimum per task. */

struct report_cells_fitting {
	const struct report_layout *layout;
	const bool *is_fitted; /* By column: the width is fitted to the rows. */
	size_t task_rows;
	size_t widths[FIT_TASKS][REPORT_MAX_COLUMNS]; /* By task: the widths that its rows need. */
};

/* If all rows are shown, they are handled in the order of memory. */
static void fit_some_rows(void *context, size_t task, unsigned worker)
{
	struct report_cells_fitting *fitting = context;
	const struct report_layout *l = fitting->layout;
	const struct flat_table *t = l->table;
	size_t *widths = fitting->widths[task];
	bool fits_addresses = !l->options->separator && !l->options->width_count && !l->options->has_object_filter;
	for (size_t i = task * fitting->task_rows; i < thread_pool_task_end(task, fitting->task_rows, t->shown_count);
		i++) {
		const struct flat_row *row = &t->rows[t->shown_count == t->row_count ? i : t->order[i]];
		for (unsigned step = 0; step < REPORT_NAME_STEPS; step++) {
			size_t ahead = i + (REPORT_NAME_STEPS - step) * REPORT_CELLS_ROWS_AHEAD;
			if (t->shown_count == t->row_count && ahead < t->row_count)
				report_expect_name(l->profile, &t->rows[ahead], step);
		}
		for (size_t c = 0; c < l->count; c++) {
			if (!fitting->is_fitted[c])
				continue;
			size_t cell = report_cell_width(l, l->columns[c], row);
			if (l->columns[c] == KEY_DSO && cell < REPORT_ADDRESS_DIGITS && fits_addresses &&
				l->profile->frames[row->frame].function == PROFILE_NONE)
				cell = REPORT_ADDRESS_DIGITS;
			if (cell > widths[c])
				widths[c] = cell;
		}
	}
}

static void fit_rows(struct report_layout *l, const bool *is_fitted)
{
	size_t rows = l->table->shown_count;
	struct report_cells_fitting fitting = {.layout = l, .is_fitted = is_fitted, .task_rows = rows / FIT_TASKS + 1};
	if (fitting.task_rows < FIT_TASK_ROWS)
		fitting.task_rows = FIT_TASK_ROWS;
	size_t tasks = thread_pool_tasks(rows, fitting.task_rows);
	thread_pool_for(tasks, 0, fit_some_rows, &fitting);
	for (size_t task = 0; task < tasks; task++)
		for (size_t c = 0; c < l->count; c++)
			if (fitting.widths[task][c] > l->widths[c])
				l->widths[c] = fitting.widths[task][c];
}

/* Fields are columns only for the events that have them. */
static bool report_cells_has_column(const struct report_layout *l, enum profile_key key)
{
	if (!flat_table_has_key(l->table, key))
		return false;
	return key >= 64 || !(l->options->hidden_columns >> key & 1);
}

/* Returns whether the key is a name, which is still useful when it is cut. */
static bool can_be_cut(enum profile_key key)
{
	return key == KEY_COMM || key == KEY_DSO || key == KEY_SYMBOL || key == KEY_PARENT || key == KEY_SRCLINE ||
	       key == KEY_SRCFILE;
}

/* Narrows the widest names until a row fits on a line of the terminal, or no name can be narrowed further. */
static void fit_terminal(struct report_layout *l)
{
	size_t columns = l->options->terminal_columns, total = 0;
	for (size_t i = 0; i < l->count; i++)
		total += COLUMN_GAP + l->widths[i];
	while (columns && total > columns) {
		size_t widest = SIZE_MAX;
		for (size_t i = 0; i < l->count; i++)
			if (can_be_cut(l->columns[i]) && l->widths[i] > CUT_NAME_MIN &&
				(widest == SIZE_MAX || l->widths[i] > l->widths[widest]))
				widest = i;
		if (widest == SIZE_MAX)
			return;
		l->widths[widest]--;
		total--;
	}
}

void report_layout_fit(struct report_layout *l)
{
	const struct report_text_options *o = l->options;
	bool is_fitted[REPORT_MAX_COLUMNS] = {false};
	bool has_fitted = false;
	for (size_t i = 0; i < o->column_count && l->count < REPORT_MAX_COLUMNS; i++) {
		if (!report_cells_has_column(l, o->columns[i]))
			continue;
		l->columns[l->count] = o->columns[i];
		l->levels[l->count] = o->levels ? o->levels[i] : 0;
		unsigned wanted = l->count < o->width_count ? o->widths[l->count] : 0;
		bool is_value = profile_key_get(o->columns[i])->is_value;
		if (!wanted || is_value)
			fit_header(l, l->count);
		if (wanted && (!is_value || wanted > l->widths[l->count]))
			l->widths[l->count] = wanted;
		if (wanted > l->cells[l->count] && !profile_key_get(o->columns[i])->parts)
			l->cells[l->count] = wanted;
		is_fitted[l->count] = !wanted && !is_value;
		has_fitted = has_fitted || is_fitted[l->count];
		l->count++;
	}
	if (has_fitted)
		fit_rows(l, is_fitted);
	if (!o->separator)
		fit_terminal(l);
}

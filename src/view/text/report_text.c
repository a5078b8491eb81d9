#include "view/text/report_text.h"
#include "base/error.h"
#include "base/map_u64.h"
#include "view/text/percent_text.h"

#include <stdio.h>

#define INLINED			" (inlined)"
#define ADDRESS_DIGITS		16
#define LEVEL_WIDTH		4 /* "[k] " */
#define VALUE_WIDTH		12
#define PERCENT_WIDTH		8
#define ID_WIDTH		8 /* "  16511:" before a command */
#define SYMBOL_UNRESOLVED_WIDTH (LEVEL_WIDTH + 2 + ADDRESS_DIGITS)

struct report_layout {
	const struct flat_table *table;
	const struct report_text_options *options;
	const struct profile *profile;
	enum profile_key columns[REPORT_MAX_COLUMNS]; /* those that show */
	size_t widths[REPORT_MAX_COLUMNS];
	size_t cells[REPORT_MAX_COLUMNS]; /* values: the width of one member's */
	size_t count;
};

/* The name that the row's thread had last: perf shows it beside the id, and makes the command column as wide as it. */
static struct tally_str last_comm(const struct report_layout *l, const struct flat_row *row)
{
	const struct profile *p = l->profile;
	return profile_string(p, p->threads[row->thread].last_comm);
}

static struct tally_str row_binary(const struct profile *p, const struct flat_row *row)
{
	uint32_t binary = p->frames[row->frame].binary;
	return binary == PROFILE_NONE ? STR("[unknown]") : profile_string(p, p->binaries[binary].name);
}

static const struct profile_function *row_function(const struct profile *p, const struct flat_row *row)
{
	uint32_t function = p->frames[row->frame].function;
	return function == PROFILE_NONE ? NULL : &p->functions[function];
}

static struct tally_str row_parent(const struct profile *p, const struct flat_row *row)
{
	return row->parent == PROFILE_NONE ? STR("[other]") : profile_string(p, p->functions[row->parent].name);
}

static struct tally_str row_label(const struct profile *p, const struct flat_row *row)
{
	return row->label == PROFILE_NONE ? STR("") : profile_string(p, row->label);
}

/* perf makes the text of a tracepoint when it first compares two samples, and fits the column to texts that are made. */
static bool is_compared(const struct report_layout *l)
{
	uint64_t samples = 0;
	for (uint32_t m = 0; m < l->table->options.member_count; m++)
		samples += l->table->totals[m].count;
	return samples > 1;
}

static const char *column_header(const struct report_layout *l, enum profile_key key)
{
	if (key == KEY_OVERHEAD && l->options->with_children)
		return "Self";
	return profile_key_get(key)->header;
}

static size_t cell_width(const struct report_layout *l, enum profile_key key, const struct flat_row *row)
{
	const struct profile *p = l->profile;
	const struct profile_function *function = row_function(p, row);
	switch ((int)key) {
	case KEY_PID:
	case KEY_TGID:
		return last_comm(l, row).len + ID_WIDTH;
	case KEY_COMM:
		return last_comm(l, row).len;
	case KEY_PARENT:
		return row_parent(p, row).len;
	case KEY_TRACE:
		return is_compared(l) ? row_label(p, row).len : 0;
	case KEY_SRCLINE:
		return profile_string(p, row->place.line).len;
	case KEY_SRCFILE:
		return profile_string(p, row->place.file).len;
	case KEY_DSO:
		return row_binary(p, row).len;
	case KEY_SYMBOL:
		return function ? profile_string(p, function->name).len + LEVEL_WIDTH +
					  (function->is_inlined ? strlen(INLINED) : 0)
				: SYMBOL_UNRESOLVED_WIDTH;
	default:
		return 0;
	}
}

static void fit_column(struct report_layout *l, size_t column)
{
	const struct flat_table *t = l->table;
	const struct profile *p = l->profile;
	enum profile_key key = l->columns[column];
	size_t width = strlen(column_header(l, key));
	if (profile_key_get(key)->is_value) {
		size_t each = profile_key_get(key)->is_percent ? PERCENT_WIDTH : VALUE_WIDTH;
		each = width > each ? width : each;
		l->cells[column] = each;
		l->widths[column] = each * t->options.member_count;
		return;
	}
	bool fits_addresses = !l->options->separator && !l->options->width_count;
	for (size_t i = 0; i < t->shown_count; i++) {
		const struct flat_row *row = &t->rows[t->order[i]];
		size_t cell = cell_width(l, key, row);
		width = cell > width ? cell : width;
		if (key == KEY_DSO && !row_function(p, row) && width < ADDRESS_DIGITS && fits_addresses)
			width = ADDRESS_DIGITS;
	}
	l->widths[column] = width;
}

static void fit_columns(struct report_layout *l)
{
	const struct report_text_options *o = l->options;
	for (size_t i = 0; i < o->column_count && l->count < REPORT_MAX_COLUMNS; i++) {
		if (o->hidden_columns >> o->columns[i] & 1)
			continue;
		l->columns[l->count] = o->columns[i];
		unsigned wanted = l->count < o->width_count ? o->widths[l->count] : 0;
		bool is_value = profile_key_get(o->columns[i])->is_value;
		if (!wanted || is_value)
			fit_column(l, l->count);
		if (wanted && (!is_value || wanted > l->widths[l->count]))
			l->widths[l->count] = wanted;
		if (wanted > l->cells[l->count])
			l->cells[l->count] = wanted;
		l->count++;
	}
}

static uint64_t member_total(const struct report_layout *l, uint32_t member)
{
	const struct flat_total *total = &l->table->totals[member];
	return l->options->is_relative ? total->passed_period : total->period;
}

static void print_value_cell(const struct report_layout *l, struct text *out, size_t column, uint32_t row)
{
	enum profile_key key = l->columns[column];
	uint32_t members = l->table->options.member_count;
	size_t width = l->cells[column];
	for (uint32_t m = 0; m < members; m++) {
		uint64_t value = flat_stat_value(flat_table_stat(l->table, row, m), key);
		uint64_t total = member_total(l, m);
		double percent = total ? 100.0 * (double)value / (double)total : 0;
		bool is_percent = profile_key_get(key)->is_percent;
		if (l->options->separator)
			text_char(out, ' ');
		size_t wanted = l->options->separator ? 0 : width;
		if (is_percent)
			percent_text(out, percent, wanted, l->options->with_colours);
		else
			text_u64_right(out, value, wanted);
	}
}

/* Left-aligned, cut to the width. */
static void print_cut(struct text *out, struct tally_str text, size_t width)
{
	if (text.len > width)
		text.len = width;
	if (width == SIZE_MAX)
		width = text.len;
	text_str_left(out, text, width);
}

static void print_symbol_cell(const struct report_layout *l, struct text *out, size_t width, const struct flat_row *row)
{
	const struct profile_function *function = row_function(l->profile, row);
	text_char(out, '[');
	text_char(out, row->level ? (char)row->level : '?');
	text_str(out, "] ");
	if (function) {
		struct tally_str name = profile_string(l->profile, function->name);
		size_t room = width > LEVEL_WIDTH ? width - LEVEL_WIDTH : 0;
		text_bytes(out, name.data, name.len < room ? name.len : room);
		if (function->is_inlined && room > name.len)
			text_bytes(out, INLINED, room - name.len < strlen(INLINED) ? room - name.len : strlen(INLINED));
		return;
	}
	text_str(out, row->address ? "0x" : "");
	text_hex(out, row->address, ADDRESS_DIGITS);
}

static void print_key_cell(const struct report_layout *l, struct text *out, size_t column, const struct flat_row *row)
{
	const struct profile *p = l->profile;
	const struct profile_thread *thread = &p->threads[row->thread];
	size_t width = l->widths[column];
	const struct profile_function *function;
	struct tally_str label;
	switch ((int)l->columns[column]) {
	case KEY_PID:
	case KEY_TGID:
		text_printf(out, "%*d:", ID_WIDTH - 1, l->columns[column] == KEY_PID ? thread->tid : thread->pid);
		print_cut(out, last_comm(l, row), width > ID_WIDTH ? width - ID_WIDTH : SIZE_MAX);
		break;
	case KEY_COMM:
		print_cut(out, profile_string(p, p->threads[row->thread].comm), width);
		break;
	case KEY_PARENT:
		print_cut(out, row_parent(p, row), width);
		break;
	case KEY_TRACE:
		label = row_label(p, row);
		text_bytes(out, label.data, label.len < width ? label.len : width);
		break;
	case KEY_SRCLINE:
		label = profile_string(p, row->place.line);
		text_bytes(out, label.data, label.len < width ? label.len : width);
		break;
	case KEY_SRCFILE:
		label = profile_string(p, row->place.file);
		text_bytes(out, label.data, label.len < width ? label.len : width);
		break;
	case KEY_DSO:
		print_cut(out, row_binary(p, row), width);
		break;
	case KEY_SYMBOL:
		print_symbol_cell(l, out, width, row);
		break;
	case KEY_CPU:
		text_printf(out, "%*.*d", (int)width, (int)width, row->cpu);
		break;
	case KEY_SYMBOL_SIZE:
		function = row_function(p, row);
		text_u64_right(out, function ? function->size : 0, width);
		break;
	case KEY_IPC_NULL:
		text_str_left(out, STR("-      -"), width);
		break;
	default:
		break;
	}
}

static void print_row(const struct report_layout *l, struct text *out, uint32_t row)
{
	const char *separator = l->options->separator;
	for (size_t i = 0; i < l->count; i++) {
		if (!separator)
			text_str(out, "  ");
		else if (i)
			text_str(out, separator);
		size_t start = out->len;
		if (profile_key_get(l->columns[i])->is_value)
			print_value_cell(l, out, i, row);
		else
			print_key_cell(l, out, i, &l->table->rows[row]);
		size_t written = out->len - start;
		if (i + 1 < l->count && written < l->widths[i])
			text_repeat(out, ' ', l->widths[i] - written);
	}
	text_char(out, '\n');
}

static bool is_right_aligned(enum profile_key key)
{
	return profile_key_get(key)->is_value;
}

static void print_header(const struct report_layout *l, struct text *out)
{
	const char *separator = l->options->separator;
	text_str(out, "# ");
	for (size_t i = 0; i < l->count; i++) {
		struct tally_str header = str_from(column_header(l, l->columns[i]));
		if (i)
			text_str(out, separator ? separator : "  ");
		if (is_right_aligned(l->columns[i]))
			text_str_right(out, header, l->widths[i]);
		else
			print_cut(out, header, l->widths[i]);
	}
	text_char(out, '\n');
	if (separator)
		return;
	text_str(out, "# ");
	for (size_t i = 0; i < l->count; i++) {
		if (i)
			text_str(out, "  ");
		text_repeat(out, '.', l->widths[i]);
	}
	text_str(out, "\n#\n");
}

enum tally_status report_text_rows(struct text *out, const struct flat_table *table,
	const struct report_text_options *options, struct tally_error *err)
{
	struct report_layout layout = {.table = table, .options = options, .profile = table->profile};
	struct chain_printer chains;
	uint64_t total = member_total(&layout, 0);
	enum tally_status status = chain_printer_init(&chains, table, &options->chains, total, err);
	if (status != TALLY_OK)
		return status;
	fit_columns(&layout);
	if (status == TALLY_OK && !options->is_quiet)
		print_header(&layout, out);
	for (size_t i = 0; i < table->shown_count && status == TALLY_OK; i++) {
		uint32_t row = table->order[i];
		const struct flat_stat *stat = flat_table_stat(table, row, 0);
		uint64_t period = table->options.with_children ? stat->children_period : stat->period;
		double percent = total ? 100.0 * (double)period / (double)total : 0;
		if (options->percent_limit > 0 && percent < options->percent_limit)
			continue;
		print_row(&layout, out, row);
		status = chain_print(&chains, out, row, period, err);
		text_line_end(out);
	}
	chain_printer_deinit(&chains);
	if (status == TALLY_OK && out->failed)
		status = error_nomem(err);
	return status;
}

void report_text_title(struct text *out, const struct report_title *title)
{
	static const char units[] = " KMGTPE";
	uint64_t count = title->sample_count;
	size_t unit = 0;
	for (; count > 1000 && unit + 2 < sizeof(units); unit++)
		count /= 1000;
	text_str(out, "# Samples: ");
	text_u64(out, count);
	text_char(out, units[unit]);
	text_str(out, title->is_group ? " of events '" : " of event '");
	text_str(out, title->event);
	text_char(out, '\'');
	if (title->times) {
		text_str(out, " (time slices: ");
		text_str(out, title->times);
		text_char(out, ')');
	}
	text_str(out, "\n# Event count (approx.): ");
	text_u64(out, title->total_period);
	text_str(out, "\n#\n");
}

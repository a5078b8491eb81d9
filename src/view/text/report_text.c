#include "view/text/report_text.h"
#include "base/error.h"
#include "view/text/report_cells.h"

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
			report_value_cell(l, out, i, flat_table_stat(l->table, row, 0));
		else
			report_key_cell(l, out, i, &l->table->rows[row]);
		size_t written = out->len - start;
		if (i + 1 < l->count && written < l->widths[i])
			text_repeat(out, ' ', l->widths[i] - written);
	}
	text_char(out, '\n');
}

static bool is_right_aligned(enum profile_key key)
{
	return profile_key_get(key)->is_value || key >= KEY_FIELD;
}

static void print_header(const struct report_layout *l, struct text *out)
{
	const char *separator = l->options->separator;
	text_str(out, "# ");
	for (size_t i = 0; i < l->count; i++) {
		struct tally_str header = str_from(report_column_header(l, l->columns[i]));
		if (i)
			text_str(out, separator ? separator : "  ");
		if (is_right_aligned(l->columns[i]))
			text_str_right(out, header, l->widths[i]);
		else
			text_str_cut(out, header, l->widths[i]);
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
	uint64_t total = report_member_total(&layout, 0);
	enum tally_status status = chain_printer_init(&chains, table, &options->chains, total, err);
	if (status != TALLY_OK)
		return status;
	report_layout_fit(&layout);
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

static void print_samples(struct text *out, const struct report_title *title)
{
	static const char units[] = " KMGTPE";
	uint64_t count = title->sample_count;
	size_t unit = 0;
	for (; count > 1000 && unit + 2 < sizeof(units); unit++)
		count /= 1000;
	text_str(out, "Samples: ");
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
}

void report_text_title_line(struct text *out, const struct report_title *title)
{
	print_samples(out, title);
	text_str(out, title->sort_order ? ", Total weight: " : ", Event count (approx.): ");
	text_u64(out, title->total_period);
}

void report_text_title(struct text *out, const struct report_title *title)
{
	text_str(out, "# ");
	print_samples(out, title);
	text_str(out, title->sort_order ? "\n# Total weight : " : "\n# Event count (approx.): ");
	text_u64(out, title->total_period);
	if (title->sort_order) {
		text_str(out, "\n# Sort order   : ");
		text_str(out, title->sort_order);
	}
	if (title->socket) {
		text_str(out, "\n# Processor Socket: ");
		text_u64(out, *title->socket);
	}
	text_str(out, "\n#\n");
}

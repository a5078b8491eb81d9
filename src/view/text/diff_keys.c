/* SPDX-License-Identifier: Apache-2.0 */
#include "view/text/diff_keys.h"

#include "base/array.h"

static const struct flat_row *show_row(struct diff_keys *keys, uint32_t index)
{
	const struct diff_row *row = &keys->diff->rows[index];
	const struct flat_table *table = keys->diff->tables[row->file];
	keys->layout.table = table;
	keys->layout.profile = table->profile;
	keys->options.is_verbose = table->options.by_paths;
	return &table->rows[row->row];
}

static size_t diff_keys_cell_width(struct diff_keys *keys, enum profile_key key, uint32_t index)
{
	const struct flat_row *row = show_row(keys, index);
	size_t width = report_cell_width(&keys->layout, key, row);
	bool is_unnamed = keys->layout.profile->frames[row->frame].function == PROFILE_NONE;
	if (key == KEY_DSO && is_unnamed && !keys->separator && width < REPORT_ADDRESS_DIGITS)
		return REPORT_ADDRESS_DIGITS;
	return width;
}

void diff_keys_fit(struct diff_keys *keys, const struct diff_table *diff, const enum profile_key *columns,
	size_t column_count, const uint32_t *rows, size_t row_count)
{
	struct report_layout *layout = &keys->layout;
	keys->diff = diff;
	keys->options.separator = keys->separator;
	layout->options = &keys->options;
	layout->count = 0;
	for (size_t i = 0; i < column_count && i < REPORT_MAX_COLUMNS; i++) {
		size_t width = strlen(profile_key_get(columns[i])->header);
		for (size_t r = 0; r < row_count; r++) {
			size_t cell = diff_keys_cell_width(keys, columns[i], rows[r]);
			width = MAX(cell, width);
		}
		layout->columns[i] = columns[i];
		layout->widths[i] = width;
		layout->count++;
	}
}

void diff_keys_header(const struct diff_keys *keys, struct text *out)
{
	const struct report_layout *l = &keys->layout;
	for (size_t i = 0; i < l->count; i++) {
		text_str(out, keys->separator ? keys->separator : "  ");
		text_str_cut(out, str_from(profile_key_get(l->columns[i])->header), l->widths[i]);
	}
}

void diff_keys_dots(const struct diff_keys *keys, struct text *out)
{
	for (size_t i = 0; i < keys->layout.count; i++) {
		text_str(out, "  ");
		text_repeat(out, '.', keys->layout.widths[i]);
	}
}

void diff_keys_cells(struct diff_keys *keys, struct text *out, uint32_t index)
{
	const struct report_layout *l = &keys->layout;
	const struct flat_row *row = show_row(keys, index);
	for (size_t i = 0; i < l->count; i++) {
		text_str(out, keys->separator ? keys->separator : "  ");
		size_t start = out->len;
		report_key_cell(l, out, i, row);
		if (i + 1 < l->count)
			text_pad_from(out, start, l->widths[i]);
		report_mask_separator(l, out, i, start);
	}
}

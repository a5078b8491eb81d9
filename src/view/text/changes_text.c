/* SPDX-License-Identifier: Apache-2.0 */
#include "view/text/changes_text.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "view/text/diff_keys.h"

#define CHANGES_TEXT_PERCENT 100.0
#define P_MIN		     0.0001 /* Smaller values are shown as smaller than this. */

enum { CELL_BASE, CELL_NEW, CELL_CHANGE, CELL_INTERVAL, CELL_P, CELL_NOISE, CELL_VERDICT, CELL_COUNT };

static const struct {
	const char *header;
	size_t width;
} cells[CELL_COUNT] = {{"Base", 7}, {"New", 7}, {"Change", 9}, {"95% interval", 21}, {"p", 7}, {"Noise", 7}, {"", 4}};

void changes_text_change(struct text *out, const struct diff_change *change)
{
	if (isinf(change->change))
		text_str(out, "new");
	else if (change->base_mean > 0 && !(change->new_mean > 0))
		text_str(out, "gone");
	else
		text_printf(out, "%+.2f%%", CHANGES_TEXT_PERCENT * change->change);
}

void changes_text_interval(struct text *out, const struct diff_change *change)
{
	if (change->has_interval)
		text_printf(out, "[%+.2f%%, %+.2f%%]", CHANGES_TEXT_PERCENT * change->low,
			CHANGES_TEXT_PERCENT * change->high);
}

void changes_text_p(struct text *out, double p)
{
	if (p < P_MIN)
		text_str(out, "<0.0001");
	else
		text_fixed(out, p, 4);
}

const char *changes_text_verdict(enum diff_verdict verdict)
{
	static const char *const words[] = {
		[DIFF_NOT_SHOWN] = "", [DIFF_MORE] = "more", [DIFF_LESS] = "less", [DIFF_UNDECIDED] = "undecided"};
	return words[verdict];
}

static void changes_text_cell_make(struct text *cell, int column, const struct diff_change *change)
{
	switch (column) {
	case CELL_BASE:
		text_printf(cell, "%.2f%%", change->base_share);
		break;
	case CELL_NEW:
		text_printf(cell, "%.2f%%", change->new_share);
		break;
	case CELL_CHANGE:
		changes_text_change(cell, change);
		break;
	case CELL_INTERVAL:
		changes_text_interval(cell, change);
		break;
	case CELL_P:
		changes_text_p(cell, change->adjusted_p);
		break;
	case CELL_NOISE:
		if (change->noise >= 0)
			text_printf(cell, "%.2f%%", CHANGES_TEXT_PERCENT * change->noise);
		break;
	default:
		text_str(cell, changes_text_verdict(change->verdict));
		break;
	}
}

static size_t changes_text_cell_width(const struct diff_changes *changes, int column)
{
	return column == CELL_VERDICT && changes->needed ? strlen(changes_text_verdict(DIFF_UNDECIDED))
							 : cells[column].width;
}

static void changes_text_print_header(
	struct text *out, const struct diff_changes *changes, const struct diff_keys *keys)
{
	text_str(out, "# ");
	for (int i = 0; i < CELL_COUNT; i++) {
		text_str(out, i ? "  " : "");
		text_str_right(out, str_from(cells[i].header), changes_text_cell_width(changes, i));
	}
	diff_keys_header(keys, out);
	text_str(out, "\n# ");
	for (int i = 0; i < CELL_COUNT; i++) {
		text_str(out, i ? "  " : "");
		text_repeat(out, '.', changes_text_cell_width(changes, i));
	}
	diff_keys_dots(keys, out);
	text_str(out, "\n#\n");
}

enum tally_status changes_text_rows(struct text *out, const struct diff_table *diff, const struct diff_changes *changes,
	const struct diff_text_options *options, struct tally_error *err)
{
	struct diff_keys keys = {0};
	diff_keys_fit(&keys, diff, options->columns, options->column_count, changes->order, changes->tested_count);
	if (!options->is_quiet)
		changes_text_print_header(out, changes, &keys);
	for (size_t i = 0; i < changes->tested_count; i++) {
		for (int column = 0; column < CELL_COUNT; column++) {
			text_str(out, "  ");
			size_t start = out->len;
			changes_text_cell_make(out, column, &changes->rows[changes->order[i]]);
			text_align_from(out, start, (int)changes_text_cell_width(changes, column));
		}
		diff_keys_cells(&keys, out, changes->order[i]);
		text_char(out, '\n');
		text_line_end(out);
	}
	return out->failed ? error_nomem(err) : TALLY_OK;
}

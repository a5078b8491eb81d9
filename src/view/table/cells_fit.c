/* SPDX-License-Identifier: Apache-2.0 */
#include "view/table/cells_fit.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/text_cells.h"

#define WAITING_ROWS  200
#define WAITING_BYTES ((size_t)1 << 20) /* Limit for the texts of the waiting rows. */
#define CELLS_FIT_GAP "  "

bool cells_fit_init(struct cells_fit *fit, const struct cells *table)
{
	*fit = (struct cells_fit){.table = *table};
	arena_init(&fit->texts);
	fit->columns = calloc(table->count + 1, sizeof(*fit->columns));
	fit->waiting = calloc(WAITING_ROWS * (table->count + 1), sizeof(*fit->waiting));
	if (!fit->columns || !fit->waiting)
		return false;
	for (size_t i = 0; i < table->count; i++) {
		fit->columns[i] = table->columns[i];
		fit->columns[i].before = i > 0 ? CELLS_FIT_GAP : NULL;
		fit->columns[i].width = (int)text_cells(str_from(fit->columns[i].heading));
	}
	fit->table.columns = fit->columns;
	fit->table.is_fitted = true;
	return true;
}

/* Fits the columns to the waiting rows and writes them. Headings are aligned like the cells of the first row. */
static void cells_fit_begin(struct cells_fit *fit)
{
	struct text value = {0};
	for (size_t i = 0; i < fit->rows * fit->table.count; i++) {
		struct cell_column *column = &fit->columns[i % fit->table.count], alone = *column;
		alone.before = NULL, alone.width = 0;
		text_clear(&value);
		cells_put(&(const struct cells){.columns = &alone, .count = 1, .out = &value}, &fit->waiting[i]);
		size_t width = text_cells(text_view(&value));
		column->width = MAX(column->width, (int)width);
	}
	fit->table.out->failed |= value.failed;
	text_deinit(&value);
	for (size_t i = 0; i < fit->table.count; i++)
		if (fit->rows == 0 || !cell_is_number(&fit->waiting[i]))
			fit->columns[i].width = -fit->columns[i].width;
	cells_head(&fit->table);
	cells_rule(&fit->table, '-');
	for (size_t i = 0; i < fit->rows; i++)
		cells_row(&fit->table, fit->waiting + i * fit->table.count);
	free(fit->waiting);
	fit->waiting = NULL;
}

void cells_fit_row(struct cells_fit *fit, const struct cell *row)
{
	if (!fit->waiting) {
		cells_row(&fit->table, row);
		return;
	}
	struct cell *kept = fit->waiting + fit->rows++ * fit->table.count;
	for (size_t i = 0; i < fit->table.count; i++) {
		kept[i] = row[i];
		if (row[i].kind != CELL_IS_TEXT && row[i].kind != CELL_IS_DIGITS)
			continue;
		kept[i].text.data = arena_string(&fit->texts, row[i].text.data, row[i].text.len);
		fit->text_bytes += row[i].text.len;
		if (!kept[i].text.data) {
			kept[i].text.len = 0;
			fit->table.out->failed = true;
		}
	}
	if (fit->rows == WAITING_ROWS || fit->text_bytes > WAITING_BYTES)
		cells_fit_begin(fit);
}

void cells_fit_finish(struct cells_fit *fit)
{
	if (fit->waiting)
		cells_fit_begin(fit);
}

void cells_fit_deinit(struct cells_fit *fit)
{
	free(fit->columns);
	free(fit->waiting);
	arena_deinit(&fit->texts);
}

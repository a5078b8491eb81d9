/* SPDX-License-Identifier: Apache-2.0 */
#include "view/text/repeated_cells.h"

bool repeated_cell_id(const struct report_layout *l, size_t column, uint32_t row, uint64_t *id)
{
	const struct profile *p = l->profile;
	const struct flat_row *shown = &l->table->rows[row];
	enum profile_key key = l->columns[column];
	switch ((int)key) {
	case KEY_COMM:
		*id = p->threads[shown->thread].comm;
		return true;
	case KEY_DSO:
		*id = p->frames[shown->frame].binary;
		return true;
	default:
		if (!profile_key_get(key)->is_value || profile_key_get(key)->parts ||
			l->table->options.member_count > 1)
			return false;
		*id = flat_stat_value(l->table, flat_table_stat(l->table, row, 0), key);
		return true;
	}
}

void repeated_cells_keep(struct repeated_cells *cells, size_t column, uint64_t id, const struct text *out, size_t start)
{
	struct repeated_cell *cell = &cells->cells[column];
	size_t len = out->failed ? 0 : out->len - start;
	cell->len = len <= REPEATED_CELL_BYTES ? (uint32_t)len : 0;
	cell->id = id;
	if (cell->len)
		memcpy(cell->text, out->data + start, cell->len);
}

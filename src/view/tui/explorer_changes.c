/* SPDX-License-Identifier: Apache-2.0 */
#include "view/tui/explorer_changes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "view/text/report_cells.h"

void explorer_row_name(const struct explorer *e, uint32_t table_row, struct text *name)
{
	struct report_layout wide = e->layout;
	for (size_t i = 0; i < wide.count; i++) {
		wide.widths[i] = SIZE_MAX;
		if (profile_key_get(wide.columns[i])->is_value)
			continue;
		report_key_cell(&wide, name, i, &e->table->rows[table_row]);
		text_char(name, '\n');
	}
}

static double explorer_changes_share_of(const struct explorer *e, uint32_t row)
{
	struct report_layout whole = e->layout;
	whole.shown_totals = NULL; /* The share is of the unfiltered total. */
	uint64_t total = report_member_total(&whole, 0);
	return total ? 100.0 * (double)explorer_row_period(e, row) / (double)total : 0;
}

bool explorer_mark_take(struct explorer_mark *mark, const struct explorer *e, const char *when)
{
	struct text name = {0};
	bool ok = true;
	*mark = (struct explorer_mark){0};
	intern_init(&mark->names);
	snprintf(mark->when, sizeof(mark->when), "%s", when);
	for (size_t i = 0; i < e->table->shown_count && ok; i++) {
		uint32_t row = e->table->order[i], id;
		text_clear(&name);
		explorer_row_name(e, row, &name);
		ok = !name.failed && intern_add(&mark->names, name.data, name.len, &id);
		if (ok && id < mark->shares.len)
			mark->shares.items[id] += explorer_changes_share_of(e, row);
		else if (ok)
			ok = vec_push(&mark->shares, explorer_changes_share_of(e, row));
	}
	text_deinit(&name);
	return ok;
}

void explorer_mark_deinit(struct explorer_mark *mark)
{
	intern_deinit(&mark->names);
	vec_free(&mark->shares);
	*mark = (struct explorer_mark){0};
}

void explorer_compare(struct explorer *e)
{
	struct text name = {0};
	if (!e->mark || e->changes)
		return;
	e->changes = calloc(e->table->row_count + 1, sizeof(*e->changes));
	for (size_t i = 0; e->changes && i < e->table->shown_count; i++) {
		uint32_t row = e->table->order[i];
		text_clear(&name);
		explorer_row_name(e, row, &name);
		uint32_t id = name.failed ? INTERN_NONE : intern_find(&e->mark->names, name.data, name.len);
		e->changes[row] =
			explorer_changes_share_of(e, row) - (id == INTERN_NONE ? 0 : e->mark->shares.items[id]);
	}
	e->failed = e->failed || !e->changes || name.failed;
	text_deinit(&name);
}

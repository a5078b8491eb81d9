/* SPDX-License-Identifier: Apache-2.0 */
#include "view/tui/explorer_table.h"

#include <stdlib.h>

#include "base/error.h"
#include "view/text/report_cells.h"
#include "view/tui/explorer_lines.h"
#include "view/tui/explorer_rows.h"

static bool has_field(const struct explorer *e, enum profile_key key)
{
	for (size_t i = 0; i < e->field_count; i++)
		if (e->fields[i].key == key)
			return true;
	return false;
}

/* Lists the report's columns, with the optional ones after its values. */
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
			explorer_say(e, "the last column cannot be hidden");
		else
			e->fields[i].is_shown = !e->fields[i].is_shown;
	}
	fit_columns(e);
	e->is_symbol_first = false;
	explorer_place_symbol(e);
}

static void explorer_table_drop(struct explorer *e)
{
	call_tree_deinit(&e->builder);
	free(e->visible);
	free(e->shown_totals);
	free(e->changes);
	e->changes = NULL;
	e->visible = NULL;
	e->shown_totals = NULL;
}

/* The caller must select the rows of the table afterwards. */
static enum tally_status explorer_table_take(
	struct explorer *e, const struct flat_table *table, struct tally_error *err)
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
	e->options.with_colours = e->options.chains.with_colours = false; /* The grid has its own colours. */
	e->percent_limit = options->percent_limit;
	e->order_member = table->options.sort_member;
	list_fields(e);
	enum tally_status status = explorer_table_take(e, table, err);
	if (status == TALLY_OK)
		explorer_select_rows(e);
	else
		explorer_deinit(e);
	return status;
}

enum tally_status explorer_set_table(
	struct explorer *e, const struct flat_table *table, const char *title, struct tally_error *err)
{
	explorer_drop_folds(e);
	explorer_table_drop(e);
	e->title = title;
	e->visible_count = 0;
	e->cursor = e->top = (struct explorer_position){0};
	return explorer_table_take(e, table, err);
}

void explorer_deinit(struct explorer *e)
{
	explorer_drop_folds(e);
	explorer_table_drop(e);
	*e = (struct explorer){0};
}

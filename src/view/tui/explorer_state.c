/* SPDX-License-Identifier: Apache-2.0 */
#include "view/tui/explorer_state.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/array.h"

#define SYMBOL_ROOM 24 /* If fewer columns would remain for a symbol, it comes before the other keys. */

uint64_t explorer_row_period(const struct explorer *e, uint32_t table_row)
{
	const struct flat_stat *stat = flat_table_stat(e->table, table_row, 0);
	return e->table->options.with_children ? stat->children_period : stat->period;
}

bool explorer_is_zoomed(const struct explorer *e, enum explorer_zoom zoom)
{
	for (unsigned i = 0; i < e->zoom_count; i++)
		if (e->zooms[i] == zoom)
			return true;
	return false;
}

bool explorer_is_grouped_by(const struct explorer *e, enum profile_key key)
{
	for (size_t i = 0; i < e->table->options.key_count; i++)
		if (e->table->options.keys[i] == key)
			return true;
	return false;
}

void explorer_place_symbol(struct explorer *e)
{
	const struct report_layout *l = &e->layout;
	size_t symbol = 0, before = 2 + (e->changes ? EXPLORER_CHANGE_WIDTH + 2 : 0);
	while (symbol < l->count && l->columns[symbol] != KEY_SYMBOL)
		before += l->widths[symbol++] + 2;
	if (symbol == l->count)
		return;
	size_t room = MIN(l->widths[symbol], SYMBOL_ROOM);
	e->is_symbol_first = e->is_symbol_first || before + room > e->columns;
}

void explorer_say(struct explorer *e, const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	vsnprintf(e->message, sizeof(e->message), format, arguments);
	va_end(arguments);
}

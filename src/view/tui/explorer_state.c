#include "view/tui/explorer_state.h"

#include <stdarg.h>
#include <stdio.h>

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

void explorer_say(struct explorer *e, const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	vsnprintf(e->message, sizeof(e->message), format, arguments);
	va_end(arguments);
}

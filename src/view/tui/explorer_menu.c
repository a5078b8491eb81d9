/* SPDX-License-Identifier: Apache-2.0 */
#include "view/tui/explorer_menu.h"

#include <stdio.h>

#include "base/text_cells.h"
#include "view/text/report_cells.h"
#include "view/tui/explorer_lines.h"
#include "view/tui/explorer_rows.h"

#define NAME_COLUMNS 60 /* Limit for names in entries. */

static void open_menu(struct explorer *e)
{
	tui_menu_fit(&e->menu, e->rows, e->columns);
	e->mode = EXPLORER_MENU;
}

static void add_zooms(struct explorer *e)
{
	struct tui_menu *m = &e->menu;
	struct tally_str name;
	uint64_t socket;
	if (explorer_is_zoomed(e, ZOOM_THREAD))
		tui_menu_add(m, 't', "Zoom out of the thread");
	else if (explorer_cursor_thread(e, &name))
		tui_menu_add(m, 't', "Zoom into thread %.*s", (int)name.len, name.data);
	if (explorer_is_zoomed(e, ZOOM_DSO))
		tui_menu_add(m, 'd', "Zoom out of the object");
	else if (explorer_cursor_object(e, &name))
		tui_menu_add(m, 'd', "Zoom into object %.*s", (int)name.len, name.data);
	if (explorer_is_zoomed(e, ZOOM_FUNCTION))
		tui_menu_add(m, 'y', "Zoom out of the symbol");
	else if (explorer_cursor_function(e, &name) != PROFILE_NONE)
		tui_menu_add(m, 'y', "Zoom into symbol %.*s", (int)text_cells_cut(name, NAME_COLUMNS).len, name.data);
	if (explorer_is_zoomed(e, ZOOM_SOCKET))
		tui_menu_add(m, 'S', "Zoom out of the socket");
	else if (explorer_cursor_socket(e, &socket))
		tui_menu_add(m, 'S', "Zoom into socket %d", (int)socket);
	tui_menu_add(m, 'K', explorer_is_zoomed(e, ZOOM_KERNEL) ? "Zoom out of the kernel" : "Zoom into the kernel");
}

static void explorer_menu_add(struct explorer *e, char key, const char *what)
{
	if (!e->absent_keys || !strchr(e->absent_keys, key))
		tui_menu_add(&e->menu, (uint32_t)key, "%s", what);
}

void explorer_menu_main(struct explorer *e)
{
	struct tui_menu *m = &e->menu;
	struct tally_str name = {0};
	uint32_t function = explorer_cursor_function(e, &name);
	tui_menu_start(m, "What to do");
	if (function != PROFILE_NONE)
		tui_menu_add(m, 'a', "Annotate %.*s", (int)text_cells_cut(name, NAME_COLUMNS).len, name.data);
	if (e->visible_count && explorer_has_chains(e, e->visible[e->cursor.row])) {
		tui_menu_add(m, '+', "Open or close one level of call chains");
		tui_menu_add(m, 'e', "Open or close all call chains of the row");
	}
	add_zooms(e);
	tui_menu_add(m, '/', "Filter rows by a symbol's name ...");
	tui_menu_add(m, 'f', "Search ...");
	tui_menu_add(m, 'o', "Order rows by ...");
	explorer_menu_add(e, 's', "Sort keys ...");
	tui_menu_add(m, '|', "Columns ...");
	tui_menu_add(m, 'L', "Percent limit ...");
	tui_menu_add(m, 'F', "Percentages of %s", e->is_relative ? "all samples" : "what is shown");
	tui_menu_add(m, 'T', "Call tree from the top");
	tui_menu_add(m, 'I', "Callers of each function");
	tui_menu_add(m, 'v', "Flame view");
	explorer_menu_add(e, 'i', "Header of the recording");
	explorer_menu_add(e, 'W', "Health of the recording");
	tui_menu_add(m, 'P', "Print to perf.hist.N");
	tui_menu_add(m, '?', "Help");
	tui_menu_add(m, 'q', "Leave");
	open_menu(e);
}

void explorer_menu_order(struct explorer *e)
{
	tui_menu_start(&e->menu, "Order rows by");
	for (size_t i = 0; i < e->layout.count; i++) {
		enum profile_key key = e->layout.columns[i];
		if (key == KEY_IPC_NULL || key == KEY_IPC_LBR)
			continue; /* These columns have no values to order by. */
		tui_menu_add(&e->menu, EXPLORER_KEY_ORDER + (uint32_t)key, "%s", report_column_header(&e->layout, key));
	}
	open_menu(e);
}

void explorer_menu_fields(struct explorer *e)
{
	tui_menu_start(&e->menu, "Columns, Enter switches");
	for (size_t i = 0; i < e->field_count; i++) {
		enum profile_key key = e->fields[i].key;
		tui_menu_add(&e->menu, EXPLORER_KEY_FIELD + (uint32_t)key, "[%c] %s", e->fields[i].is_shown ? 'x' : ' ',
			report_column_header(&e->layout, key));
	}
	open_menu(e);
}

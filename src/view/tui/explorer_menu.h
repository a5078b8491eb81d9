/* SPDX-License-Identifier: Apache-2.0 */
/*
 * explorer_menu.h - opens the menus of the explorer: actions at the cursor, columns to sort by, columns to display.
 * Each entry stands for a key that explorer_key handles.
 *
 *	explorer_menu_main(&e);
 *	// e.mode is EXPLORER_MENU now
 */
#ifndef VIEW_TUI_EXPLORER_MENU_H
#define VIEW_TUI_EXPLORER_MENU_H

#include "view/tui/explorer_state.h"

/* Keys above those of the terminal; a number is added to them. */
#define EXPLORER_KEY_ORDER 0x200000 /* Plus enum profile_key: sort by this column. */
#define EXPLORER_KEY_FIELD 0x300000 /* Plus enum profile_key: display or hide this column. */

void explorer_menu_main(struct explorer *e);
void explorer_menu_order(struct explorer *e);
void explorer_menu_fields(struct explorer *e);

#endif

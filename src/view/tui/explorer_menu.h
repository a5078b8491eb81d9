/* SPDX-License-Identifier: Apache-2.0 */
/*
 * explorer_menu.h - shows the menus of the explorer: actions at the cursor, columns to sort by, columns to show. Each
 * entry stands for a key that explorer_key takes.
 *
 *	explorer_menu_main(&e);
 *	e.mode is EXPLORER_MENU then.
 */
#ifndef VIEW_TUI_EXPLORER_MENU_H
#define VIEW_TUI_EXPLORER_MENU_H

#include "view/tui/explorer_state.h"

/* Behind all keys; plus a number. */
#define EXPLORER_KEY_ORDER 0x200000 /* enum profile_key */
#define EXPLORER_KEY_FIELD 0x300000 /* enum profile_key */

void explorer_menu_main(struct explorer *e);
void explorer_menu_order(struct explorer *e);
void explorer_menu_fields(struct explorer *e);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * explorer_table.h - creates an explorer for a table, replaces its table, and selects its columns.
 *
 * The caller calls explorer_deinit; explorer_state.h says what is borrowed.
 *
 *	struct explorer e;
 *	explorer_init(&e, &table, &options, "Samples: 339  of event 'cycles'", err);
 *	...
 *	explorer_deinit(&e);
 */
#ifndef VIEW_TUI_EXPLORER_TABLE_H
#define VIEW_TUI_EXPLORER_TABLE_H

#include "view/tui/explorer_state.h"

TALLY_MUST_CHECK enum tally_status explorer_init(struct explorer *e, const struct flat_table *table,
	const struct report_text_options *options, const char *title, struct tally_error *err);
void explorer_deinit(struct explorer *e);
/* Replaces the table and profile; rows must be selected afterwards (explorer_select_rows). */
TALLY_MUST_CHECK enum tally_status explorer_set_table(
	struct explorer *e, const struct flat_table *table, const char *title, struct tally_error *err);
/* Displays or hides a column; the last one cannot be hidden. */
void explorer_switch_field(struct explorer *e, enum profile_key key);

#endif

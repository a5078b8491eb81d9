/* SPDX-License-Identifier: Apache-2.0 */
/*
 * explore_symbol.h - determines the function whose code the user requests at a row of a table or a block of a tree.
 * Values; names are borrowed from the profile.
 *
 *	struct explore_symbol symbol = {.terminal = terminal, .grid = &grid};
 *	status = explore_symbol_of(&symbol, table, function, &why);
 */
#ifndef TASKS_TERMINAL_EXPLORE_SYMBOL_H
#define TASKS_TERMINAL_EXPLORE_SYMBOL_H

#include "profile/flame_tree.h"
#include "profile/flat/flat_table.h"
#include "tasks/terminal/tui_terminal.h"

/* The function to annotate. */
struct explore_symbol {
	struct tui_terminal *terminal;
	struct grid *grid;
	struct tally_str name, path;
	uint64_t start; /* Start address of the function. */
	uint32_t first_event, event_count;
};

/* Returns UNSUPPORTED, with the reason, if the function has no code of its own. */
TALLY_MUST_CHECK enum tally_status explore_symbol_of(
	struct explore_symbol *symbol, const struct flat_table *table, uint32_t function, struct tally_error *why);
/* Returns the function for a label in a tree of this profile. If the label has only names, it is the first function
 * with this name, in a file with the label's file name, that is not inlined; if there is none, an inlined function with
 * this name. Returns PROFILE_NONE if there is no such function, or if label is NULL. */
uint32_t explore_symbol_labelled(const struct profile *p, const struct flame_label *label);

#endif

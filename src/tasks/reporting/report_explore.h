/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report_explore.h - runs the interactive report. The table of an event (or group) is made when the user first opens
 * it.
 *
 * The source is owned by the caller. It makes tables and titles, which report_explore owns.
 *
 *	status = report_explore(&(struct explore_source){.data = report, .count = 2, .open = open_table, ...}, err);
 */
#ifndef TASKS_REPORTING_REPORT_EXPLORE_H
#define TASKS_REPORTING_REPORT_EXPLORE_H

#include "profile/flame_tree.h"
#include "tasks/terminal/explore_symbol.h"
#include "view/text/report_options.h"
#include "view/tui/explorer_keys.h"
#include "view/tui/explorer_renew.h"

struct explore_table {
	struct flat_table table; /* Sorted. */
	struct text title; /* NUL-terminated. */
	struct report_text_options options;
};

void explore_table_deinit(struct explore_table *table);

/* State of a screen that was opened while the recording was still being read. */
struct explore_begun {
	struct tui_terminal *terminal;
	struct explore_table first; /* Table with index 0; valid if has_first is set. */
	/* Explorer of a preliminary table, which has been freed, and what it remembers of that table. Both are valid
	 * only if has_explorer is set. */
	struct explorer explorer;
	struct explorer_memory memory;
	bool has_first, has_explorer;
	enum explorer_action waits; /* Action that the user requested before it was possible, or EXPLORER_STAY. */
	uint32_t waits_member; /* For EXPLORER_ORDER, the group member by which to sort. */
	bool leaves; /* The user has quit. */
};

/* Closes the terminal, and frees everything that has not been used. */
void explore_begun_end(struct explore_begun *begun);

enum explore_page { EXPLORE_HEADER, EXPLORE_HEALTH };

/* Provides the contents of the report. All callbacks except levels must be set. */
struct explore_source {
	void *data;
	uint32_t count;
	/* If not NULL, its terminal is used, and stays open; if NULL, a terminal is opened and closed. */
	struct explore_begun *begun;
	/* Makes a table. On failure there is nothing to free. */
	enum tally_status (*open)(void *data, uint32_t index, struct explore_table *table, struct tally_error *err);
	/* Shows a function's code until the user goes back or quits. Errors except NOMEM are shown on the screen, and
	 * the report continues. */
	enum tally_status (*annotate)(
		void *data, const struct explore_symbol *symbol, bool *leaves, struct tally_error *err);
	/* Merges all stacks of the event of a table, or of the first event of a group. */
	enum tally_status (*tree)(
		void *data, uint32_t index, bool is_reversed, struct flame_tree *tree, struct tally_error *err);
	/* For --hierarchy: makes a tree of the table's rows, with a level for each sort key. The tree is shown first.
	 * NULL without --hierarchy; the table is then shown first. */
	enum tally_status (*levels)(
		void *data, const struct flat_table *table, struct flame_tree *tree, struct tally_error *err);
	/* Appends the text of a page about the recording. */
	enum tally_status (*page)(void *data, enum explore_page page, struct text *out, struct tally_error *err);
	/* Changes the sort keys of tables. On success all open tables are closed before the next one is opened. */
	enum tally_status (*sort)(void *data, const char *keys, struct tally_error *err);
};

/* Returns when the user quits. */
TALLY_MUST_CHECK enum tally_status report_explore(const struct explore_source *source, struct tally_error *err);

#endif

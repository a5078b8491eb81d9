/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report_explore.h - runs the interactive report: it makes a table for each event (or group) when the user first opens
 * it.
 *
 * The source, which the caller owns, makes tables and titles, which report_explore owns.
 *
 *	status = report_explore(&(struct explore_source){.data = report, .count = 2, .open = open_table}, err);
 */
#ifndef TASKS_REPORTING_REPORT_EXPLORE_H
#define TASKS_REPORTING_REPORT_EXPLORE_H

#include "profile/flame_tree.h"
#include "tasks/terminal/explore_symbol.h"
#include "view/text/report_options.h"
#include "view/tui/explorer_keys.h"
#include "view/tui/explorer_renew.h"

struct explore_table {
	struct flat_table table; /* sorted */
	struct text title; /* ends in a 0 */
	struct report_text_options options;
};

void explore_table_deinit(struct explore_table *table);

struct explore_begun { /* what is on the screen already */
	struct tui_terminal *terminal;
	struct explore_table first; /* of index 0, where has_first */
	struct explorer explorer; /* where has_explorer: of an earlier table, which is gone, and its memory */
	struct explorer_memory memory;
	bool has_first, has_explorer;
	enum explorer_action waits; /* an action that waits until it is possible, or EXPLORER_STAY */
	uint32_t waits_member; /* of an order */
	bool leaves; /* the user did */
};

/* Closes the terminal, and frees what was not used. */
void explore_begun_end(struct explore_begun *begun);

enum explore_page { EXPLORE_HEADER, EXPLORE_HEALTH };

struct explore_source {
	void *data;
	uint32_t count;
	struct explore_begun *begun; /* its terminal is used, and stays open; NULL: one is opened and closed */
	/* On failure nothing is left to free. */
	enum tally_status (*open)(void *data, uint32_t index, struct explore_table *table, struct tally_error *err);
	/* Shows a function's code until the user goes back, or quits. Any failure except NOMEM is shown on the screen,
	 * and the report continues. */
	enum tally_status (*annotate)(
		void *data, const struct explore_symbol *symbol, bool *leaves, struct tally_error *err);
	/* All stacks of the event of a table, merged; of a group, its first one. */
	enum tally_status (*tree)(
		void *data, uint32_t index, bool is_reversed, struct flame_tree *tree, struct tally_error *err);
	/* --hierarchy: the table's rows by level of sort keys, which shows first. NULL: the table does. */
	enum tally_status (*levels)(
		void *data, const struct flat_table *table, struct flame_tree *tree, struct tally_error *err);
	enum tally_status (*page)(void *data, enum explore_page page, struct text *out, struct tally_error *err);
	/* Sets the sort keys of tables. On success all open tables are closed before the next one is opened. */
	enum tally_status (*sort)(void *data, const char *keys, struct tally_error *err);
};

/* Returns when the user leaves. */
TALLY_MUST_CHECK enum tally_status report_explore(const struct explore_source *source, struct tally_error *err);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report_tables.h - makes tables of a profile according to a report plan: sorted rows and their layout. Used by report
 * and top.
 *
 * Tables borrow the profile and the plan, and are owned by the caller (flat_table_deinit).
 *
 *	struct report_tables tables = {&plan, profile, .filter = &filter};
 *	for (uint32_t event = 0, count; event < profile->event_count; event += count) {
 *		count = report_tables_members(&tables, event);
 *		status = report_tables_make(&tables, event, count, &table, err);
 *	}
 */
#ifndef TASKS_REPORTING_REPORT_TABLES_H
#define TASKS_REPORTING_REPORT_TABLES_H

#include "profile/flame_tree.h"
#include "profile/rows/hierarchy.h"
#include "tasks/reporting/report_plan.h"

struct report_tables {
	const struct report_plan *plan;
	const struct profile *profile;
	const struct profile_filter *filter;
	const bool *cpus; /* LIMIT_CPUS flags that select CPUs; NULL selects all. */
};

struct report_text_options report_tables_options(const struct report_plan *plan);
/* Returns the number of events, starting with first, that are columns of one table. */
uint32_t report_tables_members(const struct report_tables *tables, uint32_t first);
/* Returns the first event, from this one on, that starts a table to be shown (for one event or a group); returns the
 * number of events if there is none. */
uint32_t report_tables_find(const struct report_tables *tables, uint32_t event);
/* Returns whether the table is shown: empty tables are shown only with --no-skip-empty. */
bool report_tables_is_shown(const struct report_tables *tables, const struct flat_table *table);
/* Makes a table, and sorts it if it is shown. */
TALLY_MUST_CHECK enum tally_status report_tables_make(const struct report_tables *tables, uint32_t first,
	uint32_t count, struct flat_table *table, struct tally_error *err);

/* Sorts by a column of this member of a group, then by the other columns. */
TALLY_MUST_CHECK enum tally_status report_tables_order(struct flat_table *table,
	const struct report_text_options *options, enum profile_key key, uint32_t member, struct tally_error *err);

/* For --hierarchy: the rows of a table by level. */
struct report_tree {
	bool is_made; /* False if no hierarchy was requested, or if it would have no key; the table is then flat. */
	uint8_t levels[REPORT_MAX_COLUMNS]; /* Indexed by column, as in struct report_text_options. */
	struct hierarchy hierarchy;
};

TALLY_MUST_CHECK enum tally_status report_tree_init(struct report_tree *tree, const struct report_plan *plan,
	const struct flat_table *table, struct tally_error *err);
void report_tree_deinit(struct report_tree *tree);

/* Makes the tree of levels for a screen. The table may be freed; the profile is borrowed. */
TALLY_MUST_CHECK enum tally_status report_levels_init(struct flame_tree *tree, const struct report_plan *plan,
	const struct flat_table *table, struct tally_error *err);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report_tables.h - makes tables of a profile according to the plan of a report: sorted rows and their layout. Used by
 * report and top.
 *
 * Tables borrow the profile and the plan, and are the caller's (flat_table_deinit).
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
	const bool *cpus; /* by CPU, LIMIT_CPUS of them; NULL: all */
};

struct report_text_options report_tables_options(const struct report_plan *plan);
/* The number of events, from first on, that are columns of one table. */
uint32_t report_tables_members(const struct report_tables *tables, uint32_t first);
/* The first event from this one on that is shown, or whose group is; the number of events if there is none. */
uint32_t report_tables_find(const struct report_tables *tables, uint32_t event);
/* Empty tables are shown only on request. */
bool report_tables_is_shown(const struct report_tables *tables, const struct flat_table *table);
/* Makes a sorted table, unless it is empty and empty tables are not shown. */
TALLY_MUST_CHECK enum tally_status report_tables_make(const struct report_tables *tables, uint32_t first,
	uint32_t count, struct flat_table *table, struct tally_error *err);

/* Sorts by one column of this member of a group, then by the other columns. */
TALLY_MUST_CHECK enum tally_status report_tables_order(struct flat_table *table,
	const struct report_text_options *options, enum profile_key key, uint32_t member, struct tally_error *err);

struct report_tree { /* --hierarchy: the rows of a table by level */
	bool is_made; /* else the table is flat: no hierarchy was requested, or it has no key */
	uint8_t levels[REPORT_MAX_COLUMNS]; /* by column, as report_text_options has them */
	struct hierarchy hierarchy;
};

TALLY_MUST_CHECK enum tally_status report_tree_init(struct report_tree *tree, const struct report_plan *plan,
	const struct flat_table *table, struct tally_error *err);
void report_tree_deinit(struct report_tree *tree);

/* The same for a screen. The table may be freed; the profile is borrowed. */
TALLY_MUST_CHECK enum tally_status report_levels_init(struct flame_tree *tree, const struct report_plan *plan,
	const struct flat_table *table, struct tally_error *err);

#endif

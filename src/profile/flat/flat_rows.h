/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flat_rows.h - builds the rows of a table from groups of frames and of samples. Part of flat_table.
 *
 * Workers take samples side by side, each a part of them, and make rows of their own; then these are joined, in the
 * order of the parts, to what one worker would have made.
 *
 *	flat_rows_make(&table, &(struct flat_rows_source){&groups, &chains});	... table.rows, stats, instances, order
 */
#ifndef PROFILE_FLAT_FLAT_ROWS_H
#define PROFILE_FLAT_FLAT_ROWS_H

#include "profile/flat/flat_groups.h"

struct flat_rows_source {
	const struct flat_groups *groups;
	const struct flat_chains *chains;
};

/* False: out of memory; the table is to be freed as far as it got. */
bool flat_rows_make(struct flat_table *table, const struct flat_rows_source *source);

#endif

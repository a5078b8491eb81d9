/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flat_rows.h - builds the rows of a table from groups of frames and of samples. Used only by flat_table.
 *
 * Each worker makes rows from a part of the samples. Then the rows are joined in the order of the parts, so that the
 * result is the same as with one worker.
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

/* Returns false when out of memory; the caller frees the incomplete table. */
bool flat_rows_make(struct flat_table *table, const struct flat_rows_source *source);

#endif

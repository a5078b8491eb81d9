/* SPDX-License-Identifier: Apache-2.0 */
/*
 * diff_statistics.h - computes statistics of rows from several recordings of each side: change, interval, p value,
 * noise, verdict.
 *
 * Values are amounts of rows by recording, in the order of the sides: baseline, new, and more of the baseline's program
 * (A/A, for the noise alone). docs/diff.md explains the statistics.
 *
 *	diff_statistics(&(struct diff_amounts){values, rows, totals}, &test, &changes, err);
 *	diff_changes_deinit(&changes);
 */
#ifndef TASKS_COMPARING_DIFF_STATISTICS_H
#define TASKS_COMPARING_DIFF_STATISTICS_H

#include "kernel/counting/run_resampling.h"
#include "profile/diff/diff_changes.h"
#include "profile/diff/diff_table.h"

enum diff_measure {
	DIFF_AUTO, /* periods; scaled ones where runs differ mostly by how fast the machine was, and the totals do not tell */
	DIFF_PERIODS,
	DIFF_SHARES, /* of the recording's total, in percent */
	DIFF_SCALED, /* periods, by how fast the machine was in the recording: the median of its rows */
};

struct diff_test { /* how rows are compared */
	struct diff_sides sides;
	enum run_correction correction;
	enum diff_measure measure;
	double level; /* of adjusted p values, under which a change is shown */
	double loosest_level; /* the largest of all levels that are used */
	double min_share; /* percent of both sides together; rows below are not tested */
};

struct diff_amounts {
	const struct diff_value *values; /* row * recordings + recording */
	size_t row_count;
	const uint64_t *totals; /* by recording */
};

/* Replaces DIFF_AUTO in test by the measure that was chosen. */
TALLY_MUST_CHECK enum tally_status diff_statistics(const struct diff_amounts *amounts, struct diff_test *test,
	struct diff_changes *changes, struct tally_error *err);

#endif

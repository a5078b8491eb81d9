/* SPDX-License-Identifier: Apache-2.0 */
/*
 * diff_statistics.h - computes statistics of rows from several recordings of each side: change, interval, p value,
 * noise, verdict.
 *
 * Values are amounts of rows by recording, in the order of the sides: baseline, new, and additional recordings of the
 * baseline's program (A/A, used only to estimate the noise). docs/diff.md explains the statistics.
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
	/* Uses DIFF_SCALED if runs differ mainly in the speed of the machine, and the totals do not show it; else
	 * DIFF_PERIODS. */
	DIFF_AUTO,
	DIFF_PERIODS,
	DIFF_SHARES, /* Percentages of the recording's total. */
	/* Periods, divided by the speed of the machine in the recording, which is estimated by the median of its
	 * rows. */
	DIFF_SCALED,
};

/* Options of the comparison. */
struct diff_test {
	struct diff_sides sides;
	enum run_correction correction;
	enum diff_measure measure;
	double level; /* Adjusted p values below it are significant, and the change is shown. */
	/* The largest level of significance in use: level, or that of --fail-if if it is larger. DIFF_AUTO chooses
	 * DIFF_PERIODS if the totals differ at this level. */
	double loosest_level;
	double min_share; /* In percent; rows for which the mean of both sides' shares is lower are not tested. */
};

struct diff_amounts {
	const struct diff_value *values; /* Indexed by row * recordings + recording. */
	size_t row_count;
	const uint64_t *totals; /* Indexed by recording. */
};

/* Replaces DIFF_AUTO in test by the measure that was chosen. */
TALLY_MUST_CHECK enum tally_status diff_statistics(const struct diff_amounts *amounts, struct diff_test *test,
	struct diff_changes *changes, struct tally_error *err);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * diff_few.h - tests the rows of a comparison that has too few recordings for a rank test, which means that the
 * smallest possible p value of that test exceeds the level of significance. Pure.
 *
 * The rank test makes no assumption about the distribution of values. This test assumes that differences between runs
 * are about normally distributed, that sampling is random (an amount of n samples has a relative error of 1/sqrt(n)),
 * and that all rows vary similarly from run to run. A row's variance is at least that of sampling, plus the additional
 * variance of all rows among recordings of one side; it is larger if the row itself varies more. The difference of the
 * sides' means, divided by its standard error, is compared with Student's distribution, for which the degrees of
 * freedom are the number of recordings minus two.
 */
#ifndef TASKS_COMPARING_DIFF_FEW_H
#define TASKS_COMPARING_DIFF_FEW_H

#include "kernel/counting/run_resampling.h"
#include "profile/diff/diff_changes.h"

/* Returns the smallest possible p value of a rank test. */
double diff_few_least_p(const struct diff_sides *sides);
/* Returns the number of recordings that each side needs so that the smallest p value, corrected for this number of
 * rows, can be below level, which is the level of significance. Returns 0 if there are enough recordings. */
size_t diff_few_needed(const struct diff_sides *sides, enum run_correction correction, size_t rows, double level);

struct diff_few_row {
	const double *values; /* Values of the baseline's recordings, followed by those of the new ones. */
	const uint64_t *samples; /* Number of samples of each value. */
};

/* Sum of the squared relative differences between recordings of a side beyond sampling noise. A zero-initialized spread
 * is empty. */
struct diff_few_spread {
	double squares, weight;
};
void diff_few_spread_add(
	struct diff_few_spread *spread, const struct diff_sides *sides, const struct diff_few_row *row);
/* Sets the p value of change, and its confidence interval if it has none. The spread must be that of all rows that are
 * compared. */
void diff_few_compare(const struct diff_few_spread *spread, const struct diff_sides *sides,
	const struct diff_few_row *row, struct diff_change *change);

#endif

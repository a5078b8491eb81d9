/* SPDX-License-Identifier: Apache-2.0 */
/*
 * diff_few.h - judges rows of too few recordings for a rank test, whose smallest possible p value exceeds the level.
 * Pure.
 *
 * The rank test has no assumptions. This test assumes that differences between runs are about normally distributed,
 * that sampling is random (an amount of n samples has a relative error of 1/sqrt(n)), and that all rows vary similarly
 * from run to run. A row's variance is at least that of sampling, plus the additional variance of all rows among
 * recordings of one side; it is larger if the row itself varies more. The difference of the sides' means, divided by
 * its standard error, is compared with Student's distribution, whose degrees of freedom are the number of recordings
 * minus two.
 */
#ifndef TASKS_COMPARING_DIFF_FEW_H
#define TASKS_COMPARING_DIFF_FEW_H

#include "kernel/counting/run_resampling.h"
#include "profile/diff/diff_changes.h"

/* The least p that ranks can have. */
double diff_few_least_p(const struct diff_sides *sides);
/* The recordings that each side needs until the smallest p of so many rows can be below level; 0: there are enough. */
size_t diff_few_needed(const struct diff_sides *sides, enum run_correction correction, size_t rows, double level);

struct diff_few_row {
	const double *values; /* of the base's recordings, then the new's */
	const uint64_t *samples; /* the same */
};

/* The squared relative differences between recordings of a side beyond sampling noise. Zero-initialised is empty. */
struct diff_few_spread {
	double squares, weight;
};
void diff_few_spread_add(
	struct diff_few_spread *spread, const struct diff_sides *sides, const struct diff_few_row *row);
/* Sets p, and the interval if there is none; mean and change are known. */
void diff_few_compare(const struct diff_few_spread *spread, const struct diff_sides *sides,
	const struct diff_few_row *row, struct diff_change *change);

#endif

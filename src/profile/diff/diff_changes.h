/* SPDX-License-Identifier: Apache-2.0 */
/*
 * diff_changes.h - holds how much each row of a diff between two sides, each of which has several recordings, changed
 * and how certain that is.
 *
 * tasks/comparing/diff_statistics.h computes it. Rows have the same numbers as in their table. The owner calls
 * diff_changes_deinit.
 */
#ifndef PROFILE_DIFF_DIFF_CHANGES_H
#define PROFILE_DIFF_DIFF_CHANGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct diff_sides { /* Number of recordings of each side. */
	size_t base, other, same; /* same: further recordings of the base's program, which measure the noise. */
};

enum diff_verdict {
	DIFF_NOT_SHOWN, /* No significant change, or not tested. */
	DIFF_MORE,
	DIFF_LESS,
	DIFF_UNDECIDED, /* No significant change, but too few recordings to rule one out. */
};

static inline bool diff_verdict_is_change(enum diff_verdict verdict)
{
	return verdict == DIFF_MORE || verdict == DIFF_LESS;
}

struct diff_change {
	double base_mean, new_mean; /* Mean of the measure per recording. */
	double base_share, new_share; /* Percentage of the side's total. */
	double change; /* Relative change: 0.03 is 3 % more; INFINITY if the base has none. */
	double low, high; /* Confidence interval of the change, valid if has_interval is set. */
	bool has_interval;
	bool is_tested;
	double p, adjusted_p; /* p value, and p value adjusted for multiple tests; valid if is_tested is set. */
	double noise; /* Relative difference between recordings of the same program; negative if unknown. */
	enum diff_verdict verdict;
};

struct diff_changes {
	struct diff_change total; /* Change of all samples together. */
	bool has_total;
	/* Number of recordings that a rank test needs on each side, for rows and the total; 0 if there are enough. */
	size_t needed, total_needed;
	struct diff_change *rows;
	size_t row_count, tested_count;
	uint32_t *order; /* The tested rows: changed ones first, and among equals the largest differences first. */
};

void diff_changes_deinit(struct diff_changes *changes);

#endif

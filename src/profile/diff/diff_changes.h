/* SPDX-License-Identifier: Apache-2.0 */
/*
 * diff_changes.h - computes, from several recordings of each side, how much each row changed and how certain that is.
 * It only holds data.
 *
 * tasks/comparing/diff_statistics.h fills it. Rows have the same numbers as in their table. The owner deinits.
 */
#ifndef PROFILE_DIFF_DIFF_CHANGES_H
#define PROFILE_DIFF_DIFF_CHANGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct diff_sides { /* numbers of recordings */
	size_t base, other, same; /* same: recordings of the base's program, to measure the noise */
};

enum diff_verdict {
	DIFF_NOT_SHOWN, /* no significant change, or not tested */
	DIFF_MORE,
	DIFF_LESS,
	DIFF_UNDECIDED, /* no significant change, but too few recordings to rule one out */
};

static inline bool diff_verdict_is_change(enum diff_verdict verdict)
{
	return verdict == DIFF_MORE || verdict == DIFF_LESS;
}

struct diff_change {
	double base_mean, new_mean; /* of the measure, per recording */
	double base_share, new_share; /* percent of the side's total */
	double change; /* relative: 0.03 is 3 % more; INFINITY: the base has none */
	double low, high; /* the interval of the change */
	bool has_interval;
	bool is_tested;
	double p, adjusted_p; /* of tested ones */
	double noise; /* the relative difference between recordings of one program. Negative: not known */
	enum diff_verdict verdict;
};

struct diff_changes {
	struct diff_change total; /* of all samples */
	bool has_total;
	size_t needed, total_needed; /* recordings that a rank test needs on each side; 0: there are enough */
	struct diff_change *rows;
	size_t row_count, tested_count;
	uint32_t *order; /* tested rows: those that changed first, the largest differences first */
};

void diff_changes_deinit(struct diff_changes *changes);

#endif

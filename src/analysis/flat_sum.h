/*
 * flat_sum.h - pass three of a flat profile: what was placed becomes sums by thread and function, in one sample_pass,
 * whose consumers see no difference but that frames of one function are one already.
 *
 * All spots are brought into the order of their addresses first. Then symbols are met one after another, a function's
 * spots lie side by side, and each group needs one place to remember whether the function has it: nothing is looked up
 * in a table that no cache holds. The sums come out in the order in which the recording first has them, for any number
 * of workers.
 *
 *	... flat_fold_place(&folds[i]) for each; load what they hit ...
 *	if (!flat_sum(&(struct flat_sum_job){folds, count, store, store_ids, threads}, pass)) return error_nomem(err);
 */
#ifndef ANALYSIS_FLAT_SUM_H
#define ANALYSIS_FLAT_SUM_H

#include "analysis/flat_fold.h"

struct flat_sum_job {
	struct flat_fold *folds; /* placed, in order of what they read; their spots go */
	size_t count;
	const struct binary_store *store;
	const uint32_t *store_ids; /* by binary of the machine; RESOLVE_NONE: has no symbols */
	unsigned threads; /* 0: one per CPU */
};

/* Into the pass, which is new. False: out of memory. */
bool flat_sum(const struct flat_sum_job *job, struct sample_pass *pass);

#endif

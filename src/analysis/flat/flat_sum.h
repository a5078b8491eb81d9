/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flat_sum.h - pass three of a flat profile: what was placed becomes sums by thread and function, in one sample_pass,
 * whose consumers see no difference but that frames of one function are one already.
 *
 * All spots are brought into the order of their functions first (flat_order.h). A function's spots lie side by side then,
 * and each group needs one place to remember whether the function has it: nothing is looked up in a table that no cache
 * holds. Frames come out in the order in which the recording first has them, sums in that of time, for any number of
 * workers.
 *
 *	... flat_fold_place(&folds[i]) for each; load what they hit ...
 *	if (!flat_sum(&(struct flat_placed){folds, count, store, store_ids, threads}, pass)) return error_nomem(err);
 */
#ifndef ANALYSIS_FLAT_FLAT_SUM_H
#define ANALYSIS_FLAT_FLAT_SUM_H

#include "analysis/flat/flat_order.h"

/* Into the pass, which is new. False: out of memory. */
bool flat_sum(const struct flat_placed *placed, struct sample_pass *pass);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plain_sum.h - runs pass three of a plain profile: it adds up placed samples by thread and function into one
 * sample_pass, in which the frames of a function are already merged.
 *
 * All spots are brought into the order of their functions first (plain_order.h). A function's spots lie side by side then,
 * and each group needs one place to remember whether the function has it: nothing is looked up in a table that no cache
 * holds. Frames come out in the order in which the recording first has them, sums in that of time, for any number of
 * workers.
 *
 *	... plain_fold_place(&folds[i]) for each; load what they hit ...
 *	if (!plain_sum(&(struct plain_placed){folds, count, store, store_ids, threads}, pass)) return error_nomem(err);
 */
#ifndef ANALYSIS_PLAIN_PLAIN_SUM_H
#define ANALYSIS_PLAIN_PLAIN_SUM_H

#include "analysis/plain/plain_order.h"

/* Into the pass, which is new. False: out of memory. */
bool plain_sum(const struct plain_placed *placed, struct sample_pass *pass);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plain_sum.h - runs pass three of a plain profile: it adds up folded samples (spots) by thread and function into one
 * sample_pass, in which the frames of a function are already merged.
 *
 * All spots are first sorted by function (plain_order.h). The spots of a function are then adjacent, and each thread
 * needs only one slot that says whether the function has a sum for it, so there are no look-ups in a table too large
 * for the CPU's caches. Frames are in the order of their first sample and sums are in time order, for any number of
 * workers.
 *
 *	... plain_fold_place(&folds[i]) for each; load what they hit ...
 *	if (!plain_sum(&(struct plain_placed){folds, count, store, store_ids, threads}, pass)) return error_nomem(err);
 */
#ifndef ANALYSIS_PLAIN_PLAIN_SUM_H
#define ANALYSIS_PLAIN_PLAIN_SUM_H

#include "analysis/plain/plain_order.h"

/* Adds up the spots in the pass, which must be new. Returns false when out of memory. */
bool plain_sum(const struct plain_placed *placed, struct sample_pass *pass);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_coverage.h - counts the windows of an answer, and those in which waits were measured. An agent that would
 * exceed its budget stops measuring waits, so that their sum covers only a part of the time.
 *
 * Selected threads may have no waits in a window because they only ran; the window counts as one with waits if any
 * thread of its batch has some. Owned by the caller.
 *
 *	struct store_coverage coverage = {0};
 *	store_coverage_add(&coverage, batch_labels, begin_ns, has_waits);
 *	store_coverage_find_others(&coverage, store, selection, err);
 *	store_coverage_deinit(&coverage);
 */
#ifndef STORE_STORE_COVERAGE_H
#define STORE_STORE_COVERAGE_H

#include "store/store_catalog.h"
#include "store/store_state.h"

struct store_coverage {
	struct map_u64 windows; /* Maps a hash of labels and begin of the batch to 1, or to 2 for windows with waits. */
	uint64_t with_waits; /* Number of windows with waits. */
	bool failed; /* Memory ran out, so the counts are too low. */
};

void store_coverage_deinit(struct store_coverage *coverage);
void store_coverage_add(struct store_coverage *coverage, uint64_t batch_labels, uint64_t begin_ns, bool has_waits);
/* Marks the added windows in which any thread has waits, selected or not. Call it after store_coverage_add. */
TALLY_MUST_CHECK enum tally_status store_coverage_find_others(struct store_coverage *coverage,
	const struct store *store, const struct store_selection *selection, struct tally_error *err);

#endif

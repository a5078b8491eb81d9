/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_coverage.h - counts the windows that an answer adds up, and those in which waits were measured: an agent that
 * would cost more than its budget stops measuring them, and a sum of waits is then one of a part of the time.
 *
 * A window in which the selected threads only ran has no waits of theirs; it counts as one with waits if any thread of
 * its batch has some. Owned by the caller.
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
	struct map_u64 windows; /* by labels of the batch and begin: 1, or 2 with waits */
	uint64_t with_waits;
	bool failed; /* out of memory */
};

void store_coverage_deinit(struct store_coverage *coverage);
void store_coverage_add(struct store_coverage *coverage, uint64_t batch_labels, uint64_t begin_ns, bool has_waits);
/* Looks for waits of threads that were not selected, in windows without waits of those that were. */
TALLY_MUST_CHECK enum tally_status store_coverage_find_others(struct store_coverage *coverage,
	const struct store *store, const struct store_selection *selection, struct tally_error *err);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * deferred_chains.h - matches CALLCHAIN_DEFERRED records, which the kernel writes when it returns to the program, with
 * the samples that their user call chains belong to.
 *
 * If the user part of a sample's chain is still missing, the chain ends in CONTEXT_USER_DEFERRED and a cookie; one
 * record serves all samples with that cookie (linux/perf_event.h, PERF_RECORD_CALLCHAIN_DEFERRED). Owned by the
 * sideband; the chains borrow the run. Filled by one thread, then read by any.
 *
 *	deferred_chains_add(&chains, &record, &is_damaged, err);
 *	if (deferred_chains_cookie(&sample.callchain, swap, &cookie)) later = deferred_chains_find(&chains, cookie);
 */
#ifndef ANALYSIS_DEFERRED_CHAINS_H
#define ANALYSIS_DEFERRED_CHAINS_H

#include "abi/sample.h"
#include "base/map_u64.h"
#include "base/vec.h"

#define DEFERRED_WORDS 2 /* Number of words at the end of a chain without its user part: the marker and the cookie. */

struct deferred_chains {
	struct map_u64 by_cookie; /* Maps a cookie to the index of its chain. */
	VEC(struct sample_array) chains;
};

void deferred_chains_deinit(struct deferred_chains *chains);
/* Adds a record. A damaged record is not an error, but sets *is_damaged. */
TALLY_MUST_CHECK enum tally_status deferred_chains_add(
	struct deferred_chains *chains, const struct record *record, bool *is_damaged, struct tally_error *err);
/* Returns true and sets *cookie if the user part of the chain is deferred to a later record. */
bool deferred_chains_cookie(const struct sample_array *chain, bool swap, uint64_t *cookie);
/* Returns the deferred part, or an empty array if its record is missing or chains is NULL. */
struct sample_array deferred_chains_find(const struct deferred_chains *chains, uint64_t cookie);

#endif

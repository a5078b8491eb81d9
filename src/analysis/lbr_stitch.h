/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lbr_stitch.h - extends LBR call stacks: callers that the registers no longer held are taken from an earlier sample of
 * the thread, as long as some of its entries are still in the same registers.
 *
 * An entry i of a stack whose newest one is in register h is in register h - i, modulo the number of registers. One per
 * worker, fed in the order of the thread's samples; the caller deinits.
 *
 *	struct lbr_stitcher stitcher = {.register_count = 32};
 *	if (lbr_stitch(&stitcher, &sample, &older)) for (size_t i = 0; i < older.count; i++) caller(older.sources[i]);
 *	lbr_stitcher_deinit(&stitcher);
 */
#ifndef ANALYSIS_LBR_STITCH_H
#define ANALYSIS_LBR_STITCH_H

#include "abi/branch.h"
#include "base/limits.h"
#include "base/map_u64.h"
#include "base/vec.h"

struct lbr_entry {
	uint64_t from, to, flags;
};

struct lbr_thread { /* its last sample */
	uint64_t newest; /* register */
	size_t count;
	struct lbr_entry entries[LIMIT_BRANCH_HISTORY]; /* newest first */
	VEC(uint64_t) older; /* sources of calls that it was given, innermost first */
};

struct lbr_stitcher {
	uint64_t register_count;
	struct map_u64 by_thread; /* tid -> index */
	VEC(struct lbr_thread *) threads;
};

struct lbr_older { /* valid until the next sample */
	const uint64_t *sources;
	size_t count;
};

/* False: out of memory. */
bool lbr_stitch(struct lbr_stitcher *stitcher, const struct sample *sample, struct lbr_older *older);
void lbr_stitcher_deinit(struct lbr_stitcher *stitcher);

#endif

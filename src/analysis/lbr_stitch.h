/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lbr_stitch.h - extends LBR call stacks: callers that no longer fit into the registers are copied from an earlier
 * sample of the thread, as long as some of that sample's entries are still in the same registers.
 *
 * If the newest entry of a stack is in register h, entry i is in register h - i, modulo the number of registers. Each
 * worker has one stitcher, which is fed with samples in order; the caller frees it.
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

struct lbr_thread { /* The last sample of a thread. */
	uint64_t newest; /* Register of the newest entry. */
	size_t count;
	struct lbr_entry entries[LIMIT_BRANCH_HISTORY]; /* Newest first. */
	VEC(uint64_t) older; /* Sources of the calls that were added from earlier samples, innermost first. */
};

struct lbr_stitcher {
	uint64_t register_count;
	struct map_u64 by_thread; /* Maps a tid to an index in threads. */
	VEC(struct lbr_thread *) threads;
};

struct lbr_older { /* Sources of the older calls, innermost first; valid until the next sample. */
	const uint64_t *sources;
	size_t count;
};

/* Sets *older to the calls that extend the sample's stack; there may be none. Returns false when out of memory. */
bool lbr_stitch(struct lbr_stitcher *stitcher, const struct sample *sample, struct lbr_older *older);
void lbr_stitcher_deinit(struct lbr_stitcher *stitcher);

#endif

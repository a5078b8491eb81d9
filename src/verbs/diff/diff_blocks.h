/* SPDX-License-Identifier: Apache-2.0 */
/*
 * diff_blocks.h - computes the cycles of program blocks from the branch stacks of a recording, for diff -c cycles.
 *
 * A block is the code between two branches of one function. Its cycles are those of the branch at its end, averaged
 * over all its executions. As in perf, blocks with the same end are merged into the one that starts first. Not
 * thread-safe.
 *
 *	diff_blocks_read(cli, &input, event, &blocks, err);
 *	first = diff_blocks_find(&blocks, dso, symbol, &count);
 *	diff_blocks_deinit(&blocks);
 */
#ifndef VERBS_DIFF_DIFF_BLOCKS_H
#define VERBS_DIFF_DIFF_BLOCKS_H

#include "tasks/session/data_source.h"
#include "view/text/diff_text.h"

#define DIFF_BLOCK_KEPT DIFF_TEXT_SPREAD

struct diff_block {
	const char *dso, *symbol;
	uint64_t start, end; /* Offsets from the function's start. */
	uint64_t cycles; /* Average, rounded down as in perf. */
	uint32_t kept[DIFF_BLOCK_KEPT]; /* Cycles of the first kept_count executions. */
	unsigned kept_count;
	const char *range; /* Such as "work.c:7 -> work.c:12". */
};

struct diff_blocks {
	VEC(struct diff_block) items; /* Sorted by dso, symbol and end. */
	struct arena arena;
};

/* event is an index of the recording's events. Returns INVALID if this event was recorded without branch stacks. */
TALLY_MUST_CHECK enum tally_status diff_blocks_read(const struct cli *cli, const struct data_input *input,
	uint32_t event, struct diff_blocks *blocks, struct tally_error *err);
void diff_blocks_deinit(struct diff_blocks *blocks);
/* Returns the first block of a function, and sets count to their number; NULL if there are none. Valid until
 * diff_blocks_deinit. */
const struct diff_block *diff_blocks_find(
	const struct diff_blocks *blocks, struct tally_str dso, struct tally_str symbol, size_t *count);

#endif

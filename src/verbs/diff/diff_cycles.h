/* SPDX-License-Identifier: Apache-2.0 */
/*
 * diff_cycles.h - prints the blocks of each row of a diff table with the difference of their cycles (diff -c cycles).
 *
 * The caller deinitialises the result after printing. Not thread-safe.
 *
 *	diff_cycles_read(&input, &diff, &cycles, err);
 *	options.blocks = cycles.blocks;
 */
#ifndef VERBS_DIFF_DIFF_CYCLES_H
#define VERBS_DIFF_DIFF_CYCLES_H

#include "verbs/diff/diff_blocks.h"
#include "verbs/diff/diff_recordings.h"
#include "view/text/diff_text.h"

struct diff_cycles {
	struct diff_blocks *files; /* The blocks of each recording. */
	size_t file_count;
	/* Indexed by row * file_count + file, with the row and the file_count of the diff table. */
	struct diff_text_blocks *blocks;
	struct arena arena;
};

struct diff_cycles_input { /* All pointers are borrowed. */
	const struct cli *cli;
	const struct diff_request *request;
	const struct diff_recordings *recordings;
	uint32_t event; /* Index of the baseline's event. */
};

/* Returns INVALID if a recording has no branch stacks, or if symbol is not a sort key. */
TALLY_MUST_CHECK enum tally_status diff_cycles_read(const struct diff_cycles_input *input,
	const struct diff_table *diff, struct diff_cycles *cycles, struct tally_error *err);
void diff_cycles_deinit(struct diff_cycles *cycles);

#endif

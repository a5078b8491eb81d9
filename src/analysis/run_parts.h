/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run_parts.h - divides a run of records into parts that workers process in parallel.
 *
 * The start of a record in the middle of a run is only guessed. A part that turns out to begin elsewhere is walked
 * again, so the result depends neither on the guesses nor on the number of workers. If a run consists of pieces, the
 * pieces are the parts.
 *
 *	run_parts_init(&parts, &run, 1) && ...		run_parts_walk(&parts, walk_one, context);
 *	for each of parts.items in order ...		run_parts_deinit(&parts);
 */
#ifndef ANALYSIS_RUN_PARTS_H
#define ANALYSIS_RUN_PARTS_H

#include "analysis/record_run.h"

struct run_part {
	size_t begin, end; /* Positions in the run; the part has the records that begin in between. */
	bool is_cut; /* There is no valid record at end; everything after it is ignored. */
};

struct run_parts {
	const struct record_run *run; /* Borrowed. */
	struct run_part *items;
	size_t count;
};

/* Walks the records that begin in the part, moves part->end to the start of the next record, and sets is_cut. May run
 * on any thread. A part may be walked again with another beginning; the earlier results for it are then invalid. */
typedef void (*run_part_walk)(void *context, size_t index, struct run_part *part);

/* Divides the run; `each` is the number of parts per worker. With several, workers end at about the same time even if
 * other programs use their CPUs. Returns false when out of memory. */
bool run_parts_init(struct run_parts *parts, const struct record_run *run, size_t each);
void run_parts_deinit(struct run_parts *parts);
void run_parts_walk(struct run_parts *parts, run_part_walk walk, void *context);

#endif

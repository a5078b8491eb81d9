/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hot_streams.h - finds the sequences of branches in which a recording with branch stacks spent most of its time, for
 * diff --stream.
 *
 * A stream is a run of branches, newest first, that ends at a node with samples of its own in the call trees of a
 * branch history table. A few of the heaviest are kept, in perf's order. It refers to frames of the profile.
 *
 *	struct hot_streams streams;
 *	hot_streams_find(&table, &streams, err);
 *	for (size_t i = 0; i < streams.count; i++) use(&streams.items[i]);
 *	hot_streams_deinit(&streams);
 */
#ifndef PROFILE_ROWS_HOT_STREAMS_H
#define PROFILE_ROWS_HOT_STREAMS_H

#include "profile/flat/flat_table.h"

#define HOT_STREAMS_MOST 5 /* The same limit as in perf. */

struct hot_stream {
	uint64_t period;
	/* Cycles of one run through it: the sum of the average cycles of its branches, each rounded to a whole
	 * number. */
	uint64_t cycles;
	uint32_t *frames; /* Frames of the profile. */
	size_t frame_count;
};

struct hot_streams {
	const struct profile *profile; /* Borrowed. */
	struct hot_stream items[HOT_STREAMS_MOST];
	size_t count;
	uint64_t total; /* Period of all streams, including those that are not kept. */
};

/* Finds the streams of a table, which must be sorted and have chains with branches, newest first. */
TALLY_MUST_CHECK enum tally_status hot_streams_find(
	const struct flat_table *table, struct hot_streams *streams, struct tally_error *err);
void hot_streams_deinit(struct hot_streams *streams);
/* Finds the first of streams that has the same number of frames and the same source lines as stream, which belongs to
 * `of`; as in perf, frames without a line are equal. Returns its index, or streams->count if there is none. */
size_t hot_streams_match(
	const struct hot_streams *streams, const struct hot_streams *of, const struct hot_stream *stream);

#endif

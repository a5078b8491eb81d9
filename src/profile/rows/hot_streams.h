/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hot_streams.h - finds the sequences of branches in which a recording with branch stacks spent most of its time, for
 * diff --stream.
 *
 * A stream is a run of branches, the newest first, at which there are samples: a node with samples of its own in the
 * call trees of a table of branch history. Some of the heaviest are kept, in perf's order. A value; it refers to frames
 * of the profile.
 *
 *	struct hot_streams streams;
 *	hot_streams_find(&table, &streams, err);
 *	for (size_t i = 0; i < streams.count; i++) use(&streams.items[i]);
 *	hot_streams_deinit(&streams);
 */
#ifndef PROFILE_ROWS_HOT_STREAMS_H
#define PROFILE_ROWS_HOT_STREAMS_H

#include "profile/flat/flat_table.h"

#define HOT_STREAMS_MOST 5 /* as perf */

struct hot_stream {
	uint64_t period;
	uint64_t cycles; /* of a run through it: the sum of what its branches take on average, each a whole number */
	uint32_t *frames; /* of the profile */
	size_t frame_count;
};

struct hot_streams {
	const struct profile *profile; /* borrowed */
	struct hot_stream items[HOT_STREAMS_MOST];
	size_t count;
	uint64_t total; /* period of all streams, including those that are not kept */
};

/* table: sorted, of chains with branches, the newest first. */
TALLY_MUST_CHECK enum tally_status hot_streams_find(
	const struct flat_table *table, struct hot_streams *streams, struct tally_error *err);
void hot_streams_deinit(struct hot_streams *streams);
/* Finds the first stream with the same number of frames and the same source lines; as in perf, frames without a line
 * are equal. Returns its index, or streams->count. */
size_t hot_streams_match(
	const struct hot_streams *streams, const struct hot_streams *of, const struct hot_stream *stream);

#endif

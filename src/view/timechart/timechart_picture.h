/* SPDX-License-Identifier: Apache-2.0 */
/*
 * timechart_picture.h - defines the picture of a timechart: which parts of the tracks every form of it draws. It
 * borrows everything.
 *
 *	const struct timechart_picture picture = {.tracks = &tracks, .rows = rows, .row_count = count, .title = STR("perf.data")};
 */
#ifndef VIEW_TIMECHART_TIMECHART_PICTURE_H
#define VIEW_TIMECHART_TIMECHART_PICTURE_H

#include "profile/tracks.h"

struct timechart_picture {
	const struct tracks *tracks;
	const uint32_t *rows; /* tracks from top to bottom: CPUs, then tasks, those of one process together */
	size_t row_count;
	size_t hidden_tasks; /* that are in no row */
	const bool *is_highlighted; /* by track; NULL: none */
	uint64_t highlight_ns; /* so do runs longer than this stand out; 0: none */
	uint64_t io_min_ns; /* I/O is drawn as if it took that long, up to the next one of its thread */
	struct tally_str title, program;
	uint64_t lost; /* events that the recording lacks */
	bool tells_unknown; /* waits were measured: what is in no span of a task is not known */
};

/* How long it is not known what a task did, between the times at which it was seen first and last. */
static inline uint64_t timechart_unknown_ns(const struct track *task)
{
	uint64_t known_ns = 0, seen_ns = task->last_ns - task->first_ns;
	for (size_t kind = 0; kind < SPAN_KINDS; kind++)
		known_ns += task->sums[kind].ns;
	return task->last_ns > task->first_ns && seen_ns > known_ns ? seen_ns - known_ns : 0;
}

/* Whether a run stands out. */
static inline bool timechart_is_highlighted(
	const struct timechart_picture *picture, uint32_t task, const struct track_span *run)
{
	uint64_t longest_ns = run->held_ns / run->count;
	return (picture->is_highlighted && task < picture->tracks->tracks.len && picture->is_highlighted[task]) ||
	       (picture->highlight_ns != 0 && longest_ns > picture->highlight_ns);
}

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * timechart_picture.h - defines the content of a timechart: the parts of the tracks that every form of it draws. It
 * borrows everything.
 *
 *	const struct timechart_picture picture = {
 *		.tracks = &tracks, .rows = rows, .row_count = count, .title = STR("perf.data")};
 */
#ifndef VIEW_TIMECHART_TIMECHART_PICTURE_H
#define VIEW_TIMECHART_TIMECHART_PICTURE_H

#include "profile/tracks.h"

struct timechart_picture {
	const struct tracks *tracks;
	const uint32_t *rows; /* Tracks from top to bottom: CPUs, then tasks grouped by process. */
	size_t row_count;
	size_t hidden_tasks; /* Number of tasks without a row. */
	const bool *is_highlighted; /* Indexed by track; NULL if none is highlighted. */
	uint64_t highlight_ns; /* Runs longer than this are highlighted too; 0 for none. */
	uint64_t io_min_ns; /* Shorter I/O is drawn with this length, but not beyond the next I/O of its thread. */
	struct tally_str title, program;
	uint64_t lost; /* Number of lost events. */
	/* Waits were recorded instead of switches, so the state of a task outside its spans is unknown. */
	bool tells_unknown;
};

/* Returns for how long the state of a task is unknown, between the first and the last time at which it was seen. */
static inline uint64_t timechart_unknown_ns(const struct track *task)
{
	uint64_t known_ns = 0, seen_ns = task->last_ns - task->first_ns;
	for (size_t kind = 0; kind < SPAN_KINDS; kind++)
		known_ns += task->sums[kind].ns;
	return task->last_ns > task->first_ns && seen_ns > known_ns ? seen_ns - known_ns : 0;
}

/* Returns whether a run is highlighted. */
static inline bool timechart_is_highlighted(
	const struct timechart_picture *picture, uint32_t task, const struct track_span *run)
{
	uint64_t longest_ns = run->held_ns / run->count;
	return (picture->is_highlighted && task < picture->tracks->tracks.len && picture->is_highlighted[task]) ||
	       (picture->highlight_ns != 0 && longest_ns > picture->highlight_ns);
}

#endif

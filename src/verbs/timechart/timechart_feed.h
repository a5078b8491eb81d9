/* SPDX-License-Identifier: Apache-2.0 */
/*
 * timechart_feed.h - feeds a recording's records into a timechart: scheduler and CPU events, system calls, and names.
 *
 * The caller owns the source and the chart; timechart_feed sets the source's with_sideband. Not thread-safe.
 *
 *	timechart_init(&chart, TRACKS_MAX_ITEMS);
 *	status = timechart_feed(&source, &(struct timechart_feed){.merge_ns = 1000}, &chart, err);
 */
#ifndef VERBS_TIMECHART_TIMECHART_FEED_H
#define VERBS_TIMECHART_TIMECHART_FEED_H

#include "analysis/timechart.h"
#include "tasks/session/data_source.h"

struct timechart_feed {
	bool without_power; /* Omits idle states and frequencies. */
	bool skips_eagain; /* Omits I/O operations that returned EAGAIN. */
	/* I/O calls of the same kind and descriptor are merged if the time between them is at most this long. */
	uint64_t merge_ns;
};

/* Feeds all records, and then ends the open spans. Returns INVALID if the recording has no event that can be drawn. Of
 * a truncated recording, the chart has the intact part. */
TALLY_MUST_CHECK enum tally_status timechart_feed(struct data_source *source, const struct timechart_feed *feed,
	struct timechart *chart, struct tally_error *err);

#endif

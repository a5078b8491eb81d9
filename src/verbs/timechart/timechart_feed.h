/* SPDX-License-Identifier: Apache-2.0 */
/*
 * timechart_feed.h - feeds a recording's records into a timechart: events of the scheduler and of CPUs, system calls,
 * names.
 *
 * Borrows the source (with_sideband is set here) and the chart, both the caller's. One thread.
 *
 *	timechart_init(&chart, TRACKS_MAX_ITEMS);
 *	status = timechart_feed(&source, &(struct timechart_feed){.merge_ns = 1000}, &chart, err);
 */
#ifndef VERBS_TIMECHART_TIMECHART_FEED_H
#define VERBS_TIMECHART_TIMECHART_FEED_H

#include "analysis/timechart.h"
#include "tasks/session/data_source.h"

struct timechart_feed {
	bool without_power; /* no idle states and frequencies */
	bool skips_eagain; /* of I/O, as below */
	uint64_t merge_ns;
};

/* Feeds all records, and then ends the spans that are still open. INVALID: the recording has no event that can be
 * drawn. For a truncated recording the chart has its intact part. */
TALLY_MUST_CHECK enum tally_status timechart_feed(struct data_source *source, const struct timechart_feed *feed,
	struct timechart *chart, struct tally_error *err);

#endif

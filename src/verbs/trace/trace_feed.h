/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trace_feed.h - converts samples of system calls, page faults and other events into the lines and sums of a job, in
 * order of time, from a recording or live.
 *
 *	status = trace_feed_begin(&job, err);   // after its source was opened
 *	trace_feed_sample(&job, &sample, err); trace_feed_sideband(&job, &record, time_ns, err); ...
 *	trace_feed_finish(&job);
 */
#ifndef VERBS_TRACE_TRACE_FEED_H
#define VERBS_TRACE_TRACE_FEED_H

#include "verbs/trace/trace_job.h"

/* Must be called before the first sample. */
TALLY_MUST_CHECK enum tally_status trace_feed_begin(struct trace_job *job, struct tally_error *err);
TALLY_MUST_CHECK enum tally_status trace_feed_sample(
	struct trace_job *job, struct data_sample *sample, struct tally_error *err);
/* Handles a record that is not a sample. */
TALLY_MUST_CHECK enum tally_status trace_feed_sideband(
	struct trace_job *job, const struct record *record, uint64_t time_ns, struct tally_error *err);
/* Prints the beginnings of calls that have not returned. */
void trace_feed_finish(struct trace_job *job);

#endif

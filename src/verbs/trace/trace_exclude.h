/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trace_exclude.h - determines which processes a trace excludes: those of --filter-pids and, in a live trace, itself
 * and, if it traces all processes, the terminal that displays its output, because tracing them would cause more calls
 * without end.
 *
 *	status = trace_exclude_find(job, traces_all, err);   // fills job->excluded
 */
#ifndef VERBS_TRACE_TRACE_EXCLUDE_H
#define VERBS_TRACE_TRACE_EXCLUDE_H

#include "verbs/trace/trace_job.h"

/* Finds the processes that a live trace excludes. traces_all means that it traces all processes. */
TALLY_MUST_CHECK enum tally_status trace_exclude_find(struct trace_job *job, bool traces_all, struct tally_error *err);
/* Finds the processes that are excluded from a recording: only those of --filter-pids. */
TALLY_MUST_CHECK enum tally_status trace_exclude_listed(struct trace_job *job, struct tally_error *err);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trace_exclude.h - decides which processes a trace leaves out: those of --filter-pids, and of a live trace itself and,
 * where it traces all processes, what shows its output, because their calls would have no end.
 *
 *	status = trace_exclude_find(job, traces_all, err);   // into job->excluded
 */
#ifndef VERBS_TRACE_TRACE_EXCLUDE_H
#define VERBS_TRACE_TRACE_EXCLUDE_H

#include "verbs/trace/trace_job.h"

/* Of a live trace. */
TALLY_MUST_CHECK enum tally_status trace_exclude_find(struct trace_job *job, bool traces_all, struct tally_error *err);
/* Those of --filter-pids only: of a recording. */
TALLY_MUST_CHECK enum tally_status trace_exclude_listed(struct trace_job *job, struct tally_error *err);

#endif

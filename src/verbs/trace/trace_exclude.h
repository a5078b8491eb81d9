/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trace_exclude.h - decides which processes a live trace leaves out: itself, those of --filter-pids, and on whole machines
 * what shows its output, because their calls would have no end.
 *
 *	status = trace_exclude_find(job, is_system_wide, err);   // into job->excluded
 */
#ifndef VERBS_TRACE_TRACE_EXCLUDE_H
#define VERBS_TRACE_TRACE_EXCLUDE_H

#include "verbs/trace/trace_job.h"

TALLY_MUST_CHECK enum tally_status trace_exclude_find(
	struct trace_job *job, bool is_system_wide, struct tally_error *err);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trace_summary.h - prints the sums of a job as tables in perf's layout: one for each thread or cgroup, or one for all.
 *
 *	if (!trace_summary_print(&job)) return error_nomem(err);
 */
#ifndef VERBS_TRACE_TRACE_SUMMARY_H
#define VERBS_TRACE_TRACE_SUMMARY_H

#include "verbs/trace/trace_job.h"

/* Returns false if out of memory. */
bool trace_summary_print(struct trace_job *job);

#endif

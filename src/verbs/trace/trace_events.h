/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trace_events.h - completes the events of a live trace: it adds those of system calls, page faults and --sched after
 * the ones of -e, sets the contents of their samples, and assigns a role to each.
 *
 *	status = trace_events_add(&request, err);   // then record_attrs_apply
 *	trace_events_finish(&request);              // after record_attrs_apply
 */
#ifndef VERBS_TRACE_TRACE_EVENTS_H
#define VERBS_TRACE_TRACE_EVENTS_H

#include "verbs/trace/trace_job.h"

struct trace_events_request {
	/* The job, whose events receive their roles, and whose excluded processes are filtered out. */
	struct trace_job *job;
	struct trace_choice *choice; /* Its events are completed. */
	const struct kernel_seam *kernel;
	bool has_records; /* True if calls are reported by the BPF program; otherwise by tracepoints. */
	bool has_sums; /* True if the BPF program counts calls, in addition to records or instead of them. */
};

TALLY_MUST_CHECK enum tally_status trace_events_add(
	const struct trace_events_request *request, struct tally_error *err);
void trace_events_finish(const struct trace_events_request *request);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trace_events.h - completes the events of a live trace: those of system calls, page faults and --sched behind the ones
 * of -e, with what their samples hold; and says what each is for.
 *
 *	status = trace_events_add(&request, err);   // then record_attrs_apply
 *	trace_events_finish(&request);              // behind it
 */
#ifndef VERBS_TRACE_TRACE_EVENTS_H
#define VERBS_TRACE_TRACE_EVENTS_H

#include "verbs/trace/trace_job.h"

struct trace_events_request {
	struct trace_job *job; /* its events get their roles; its excluded processes are left out */
	struct trace_choice *choice; /* its events are completed */
	const struct kernel_seam *kernel;
	bool has_records; /* calls are reported by our BPF program; else by tracepoints */
	bool has_sums; /* it counts calls too, or only counts them */
};

TALLY_MUST_CHECK enum tally_status trace_events_add(
	const struct trace_events_request *request, struct tally_error *err);
void trace_events_finish(const struct trace_events_request *request);

#endif

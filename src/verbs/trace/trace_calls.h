/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trace_calls.h - prints and sums system calls: records of our BPF program, or the tracepoints of their beginnings and
 * ends, which are joined by thread.
 *
 *	status = trace_calls_take_record(job, sample, err);   // role TRACE_CALL
 *	status = trace_calls_take_tracepoint(job, sample, is_exit, err);   // TRACE_ENTER, TRACE_EXIT
 */
#ifndef VERBS_TRACE_TRACE_CALLS_H
#define VERBS_TRACE_TRACE_CALLS_H

#include "verbs/trace/trace_job.h"

TALLY_MUST_CHECK enum tally_status trace_calls_take_record(
	struct trace_job *job, const struct data_sample *sample, struct tally_error *err);
TALLY_MUST_CHECK enum tally_status trace_calls_take_tracepoint(
	struct trace_job *job, const struct data_sample *sample, bool is_exit, struct tally_error *err);
/* A call that has begun and not returned: of our BPF program's records, from outside the rings. */
TALLY_MUST_CHECK enum tally_status trace_calls_take_pending(struct trace_job *job, uint32_t pid, uint32_t tid,
	uint64_t began_ns, struct tally_bytes raw, struct tally_error *err);
/* A call that a thread was in at that time, and that began before the trace. */
TALLY_MUST_CHECK enum tally_status trace_calls_take_before(
	struct trace_job *job, int32_t tid, struct syscall_call *call, uint64_t seen_ns, struct tally_error *err);
/* Another line comes: the call that the last thread has begun gets one of its own, with "...". */
void trace_calls_interrupt(struct trace_job *job);
/* The same for all calls that go on. */
void trace_calls_end(struct trace_job *job);

#endif

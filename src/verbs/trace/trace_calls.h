/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trace_calls.h - prints and sums system calls, from records of the BPF program or from the tracepoints of their
 * beginnings and ends, which are matched by thread.
 *
 *	status = trace_calls_take_record(job, sample, err);   // an event with the role TRACE_CALL
 *	status = trace_calls_take_tracepoint(job, sample, is_exit, err);   // TRACE_ENTER or TRACE_EXIT
 */
#ifndef VERBS_TRACE_TRACE_CALLS_H
#define VERBS_TRACE_TRACE_CALLS_H

#include "verbs/trace/trace_job.h"

TALLY_MUST_CHECK enum tally_status trace_calls_take_record(
	struct trace_job *job, const struct data_sample *sample, struct tally_error *err);
TALLY_MUST_CHECK enum tally_status trace_calls_take_tracepoint(
	struct trace_job *job, const struct data_sample *sample, bool is_exit, struct tally_error *err);
/*
 * Handles a call that has begun but not returned, as stored in a map of the BPF program: raw is a record of the BPF
 * program, and began_ns the time at which the call began.
 */
TALLY_MUST_CHECK enum tally_status trace_calls_take_pending(struct trace_job *job, uint32_t pid, uint32_t tid,
	uint64_t began_ns, struct tally_bytes raw, struct tally_error *err);
/* Handles a call that began before the trace, and that the thread had not left at the time seen_ns. */
TALLY_MUST_CHECK enum tally_status trace_calls_take_before(
	struct trace_job *job, int32_t tid, struct syscall_call *call, uint64_t seen_ns, struct tally_error *err);
/*
 * Must be called before another line is printed: if the call that began last has not returned, prints it on its own
 * line with "...".
 */
void trace_calls_interrupt(struct trace_job *job);
/* Must be called at the end: prints each call that has not returned on its own line with "...". */
void trace_calls_end(struct trace_job *job);

#endif

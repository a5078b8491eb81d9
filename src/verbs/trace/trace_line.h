/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trace_line.h - prints what lines of trace have in common: how they begin (time, duration, thread), and the call chain
 * below them.
 *
 *	trace_line_begin(job, &(struct trace_stamp){.thread = thread, .has_time = true, .time_ns = t});
 *	... text_str(&job->out, "openat(...)\n") ...
 *	if (!trace_line_chain(job, &sample, err)) return TALLY_NOMEM;
 */
#ifndef VERBS_TRACE_TRACE_LINE_H
#define VERBS_TRACE_TRACE_LINE_H

#include "verbs/trace/trace_job.h"

struct trace_stamp {
	const struct trace_thread *thread;
	uint32_t cpu; /* where it happened; for a call that goes on, where it began */
	bool has_time, has_duration;
	bool is_call; /* else a line without a duration has no room for one where no calls are traced */
	uint64_t time_ns, duration_ns;
};

void trace_line_begin(struct trace_job *job, const struct trace_stamp *stamp);
/* Takes the time of the first event as the beginning. */
void trace_line_set_base(struct trace_job *job, uint64_t time_ns);
/* A text in colour, on a terminal. code: as "31". */
void trace_line_colour(struct trace_job *job, const char *code, const char *text);
/* Resolves the sample's call chain. is_call: of a system call, whose kernel part is shown with --kernel-syscall-graph
 * only. False: out of memory. shown is how many frames it has. */
bool trace_line_frames(struct trace_job *job, const struct data_sample *sample, bool is_call,
	struct resolved_chain *chain, size_t *shown, struct tally_error *err);
/* Prints the chain, if samples have one. False: out of memory. */
bool trace_line_chain(struct trace_job *job, const struct data_sample *sample, bool is_call, struct tally_error *err);
/* Whether the chain is as deep as --min-stack asks for. False also if memory ran out (resolver.failed). */
bool trace_line_is_deep(struct trace_job *job, const struct data_sample *sample, bool is_call, struct tally_error *err);
/* Finishes the machine, if mappings came, so that addresses can be looked up. */
TALLY_MUST_CHECK enum tally_status trace_line_settle(struct trace_job *job, struct tally_error *err);

#endif

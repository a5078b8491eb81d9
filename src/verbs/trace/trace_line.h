/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trace_line.h - prints the common parts of all lines of trace: the beginning (time, duration, thread), and the call
 * chain below the line.
 *
 *	trace_line_begin(job, &(struct trace_stamp){.thread = thread, .has_time = true, .time_ns = t});
 *	... text_str(&job->out, "openat(...)\n") ...
 *	if (!trace_line_chain(job, &sample, true, err)) return TALLY_NOMEM;
 */
#ifndef VERBS_TRACE_TRACE_LINE_H
#define VERBS_TRACE_TRACE_LINE_H

#include "verbs/trace/trace_job.h"

struct trace_stamp {
	const struct trace_thread *thread;
	uint32_t cpu; /* CPU of the event; for an unfinished call, the CPU on which it began. */
	bool has_time, has_duration;
	/*
	 * True for system calls and page faults. If it is false and no calls are traced, the line has no column for a
	 * duration.
	 */
	bool is_call;
	uint64_t time_ns, duration_ns;
};

void trace_line_begin(struct trace_job *job, const struct trace_stamp *stamp);
/* Sets the time of the first event, to which printed times are relative. */
void trace_line_set_base(struct trace_job *job, uint64_t time_ns);
/* Prints a text in colour if the output is a terminal. code is an SGR code such as "31". */
void trace_line_colour(struct trace_job *job, const char *code, const char *text);
/*
 * Resolves the sample's call chain, and sets shown to the number of frames to print. is_call means that the sample is
 * of a system call; its kernel frames are printed only with --kernel-syscall-graph. Returns false if out of memory.
 */
bool trace_line_frames(struct trace_job *job, const struct data_sample *sample, bool is_call,
	struct resolved_chain *chain, size_t *shown, struct tally_error *err);
/* Prints the call chain of the sample, if it has one. Returns false if out of memory. */
bool trace_line_chain(struct trace_job *job, const struct data_sample *sample, bool is_call, struct tally_error *err);
/*
 * Returns true if the chain has at least the number of frames in --min-stack. Also returns false if memory ran out
 * (resolver.failed).
 */
bool trace_line_is_deep(struct trace_job *job, const struct data_sample *sample, bool is_call, struct tally_error *err);
/* Calls machine_finish if mappings were added, so that addresses can be looked up. */
TALLY_MUST_CHECK enum tally_status trace_line_settle(struct trace_job *job, struct tally_error *err);

#endif

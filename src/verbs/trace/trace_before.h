/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trace_before.h - reads from /proc the system calls that threads had begun before the trace: their numbers and
 * arguments, but not the times at which they began.
 *
 *	trace_before_read(job, tids, count, err);   // after the trace has begun
 */
#ifndef VERBS_TRACE_TRACE_BEFORE_H
#define VERBS_TRACE_TRACE_BEFORE_H

#include "verbs/trace/trace_job.h"

/* Ignores threads that are on a CPU or in no system call, and those whose files in /proc may not be read. Fails only if
 * out of memory. */
TALLY_MUST_CHECK enum tally_status trace_before_read(
	struct trace_job *job, const pid_t *tids, size_t count, struct tally_error *err);

#endif

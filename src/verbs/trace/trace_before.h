/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trace_before.h - finds the calls that threads were in when their trace began, from /proc: numbers and arguments, but not
 * when they began.
 *
 *	trace_before_read(job, tids, count, err);   // the trace has begun
 */
#ifndef VERBS_TRACE_TRACE_BEFORE_H
#define VERBS_TRACE_TRACE_BEFORE_H

#include "verbs/trace/trace_job.h"

/* Threads that run, or whose files may not be read, are in none. NOMEM only. */
TALLY_MUST_CHECK enum tally_status trace_before_read(
	struct trace_job *job, const pid_t *tids, size_t count, struct tally_error *err);

#endif

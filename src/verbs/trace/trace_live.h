/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trace_live.h - traces live: it opens the events, and our BPF program for system calls where it may be loaded, and
 * feeds what the rings have into a job, in order of time.
 *
 * The caller owns it and the job, whose source is opened here and borrows from it: destroy the job first. One thread.
 * SIGINT and SIGTERM end the run, not the program. Nothing stays in the kernel when the process ends, even if it is
 * killed.
 *
 *	code = trace_live_open(&(struct trace_live_config){&job, &choice, words, argv}, &live);   // 0: it goes on
 *	status = trace_live_run(live, err);
 *	trace_job_deinit(&job);   trace_live_close(live);
 */
#ifndef VERBS_TRACE_TRACE_LIVE_H
#define VERBS_TRACE_TRACE_LIVE_H

#include "verbs/trace/trace_job.h"

struct trace_live;

struct trace_live_config {
	struct trace_job *job; /* initialised, without a source */
	struct trace_choice *choice; /* its events are completed */
	char *const *words; /* the command; NULL at their end */
	char *const *argv; /* the whole command line, NULL at its end */
};

/* 0, or the exit code after a message: the command runs now. *live is to be closed in both cases. */
int trace_live_open(const struct trace_live_config *config, struct trace_live **live);
TALLY_MUST_CHECK enum tally_status trace_live_run(struct trace_live *live, struct tally_error *err);
/* Says what was lost, and whether tracing never began. */
void trace_live_tell_losses(struct trace_live *live);
/* Says that a command goes on when tracing has ended before it (--max-events, or nobody reads the lines any more). */
void trace_live_tell_command(const struct trace_live *live);
/* The command's exit status, as a shell gives it; 0: there was none, or it goes on. */
int trace_live_exit_code(const struct trace_live *live);
void trace_live_close(struct trace_live *live);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trace_live.h - traces live: it opens the events, loads the BPF program for system calls if that is permitted, and
 * passes the records of the ring buffers to a job, in order of time.
 *
 * The caller owns the object and the job. The job's source is opened here and borrows from the object, so destroy the
 * job first. Used by one thread. SIGINT and SIGTERM end the run, not the program. Nothing stays in the kernel when the
 * process ends, even if it is killed.
 *
 *	code = trace_live_open(&(struct trace_live_config){&job, &choice, words, argv}, &live);   // 0: success
 *	status = trace_live_run(live, err);
 *	trace_job_deinit(&job);   trace_live_close(live);
 */
#ifndef VERBS_TRACE_TRACE_LIVE_H
#define VERBS_TRACE_TRACE_LIVE_H

#include "verbs/trace/trace_job.h"

struct trace_live;

struct trace_live_config {
	struct trace_job *job; /* An initialised job without a source. */
	struct trace_choice *choice; /* Its events are completed. */
	char *const *words; /* Words of the command, NULL-terminated; empty if there is no command. */
	char *const *argv; /* The whole command line, NULL-terminated. */
};

/*
 * Opens the events and starts the command. Returns 0, or the exit code after an error message. Call
 * trace_live_close(*live) in both cases.
 */
int trace_live_open(const struct trace_live_config *config, struct trace_live **live);
/* Runs until the command or the target ends, a limit of the settings is reached, or a signal arrives. */
TALLY_MUST_CHECK enum tally_status trace_live_run(struct trace_live *live, struct tally_error *err);
/* Prints which records and counts were lost, and whether tracing never began. */
void trace_live_tell_losses(struct trace_live *live);
/*
 * Prints a note if the command still runs after tracing has ended (because of --max-events, or because the reader of
 * the output has exited).
 */
void trace_live_tell_command(const struct trace_live *live);
/* Returns the command's exit status as in a shell; 0 if there was no command, or it still runs. */
int trace_live_exit_code(const struct trace_live *live);
void trace_live_close(struct trace_live *live);

#endif

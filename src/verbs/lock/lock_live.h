/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lock_live.h - measures waits for locks live: it passes contention_begin and contention_end events from the kernel's
 * ring buffers to a lock_job, without a recording.
 *
 * Samples are those of `lock record --kernel-callchains`, in order of time. Memory contains the ring buffers, the
 * running processes and the job's rows, and does not grow with time. The caller owns the object and the job. The job's
 * source is opened here and borrows from the object, so destroy the job first. Used by one thread. SIGINT and SIGTERM
 * end the run, not the program.
 *
 *	struct lock_live *live;
 *	code = lock_live_open(&(struct lock_live_config){&job, words, argv}, &live);   // 0: success
 *	status = lock_live_run(live, err);   ... the job's rows ...
 *	lock_job_deinit(&job);   lock_live_close(live);
 */
#ifndef VERBS_LOCK_LOCK_LIVE_H
#define VERBS_LOCK_LOCK_LIVE_H

#include "verbs/lock/lock_job.h"

struct lock_live;

struct lock_live_config {
	struct lock_job *job; /* An initialised job without a source. */
	/* Words of the command to watch or to wait for, NULL-terminated; without any, the measurement lasts until a
	 * signal arrives. */
	char *const *words;
	char *const *argv; /* The whole command line, NULL-terminated. */
};

/*
 * Opens the events and starts the command. Returns 0, or the exit code after an error message. Call
 * lock_live_close(*live) in both cases.
 */
int lock_live_open(const struct lock_live_config *config, struct lock_live **live);
/*
 * Runs until the command or the target ends, or a signal arrives. After a failure, the job contains the earlier
 * results.
 */
TALLY_MUST_CHECK enum tally_status lock_live_run(struct lock_live *live, struct tally_error *err);
/* Returns the command's exit status after the run; 0 if there was no command. */
int lock_live_exit_code(const struct lock_live *live);
void lock_live_close(struct lock_live *live);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lock_live.h - measures waits for locks live: it feeds contention_begin and _end from the kernel's rings into a
 * lock_job, without a recording.
 *
 * Samples are those of `lock record --kernel-callchains`, in order of time. Memory holds the rings, the running
 * processes and the job's rows, and does not grow with time. The caller owns it and the job, whose source is opened
 * here and borrows from it: destroy the job first. One thread; SIGINT and SIGTERM end the run, not the program.
 *
 *	struct lock_live *live;
 *	code = lock_live_open(&(struct lock_live_config){&job, words, argv}, &live);   // 0: it goes on
 *	status = lock_live_run(live, err);   ... the job's rows ...
 *	lock_job_deinit(&job);   lock_live_close(live);
 */
#ifndef VERBS_LOCK_LOCK_LIVE_H
#define VERBS_LOCK_LOCK_LIVE_H

#include "verbs/lock/lock_job.h"

struct lock_live;

struct lock_live_config {
	struct lock_job *job; /* initialised, without a source */
	char *const *words; /* the command to watch, or to wait for; NULL at their end, none: until a signal */
	char *const *argv; /* the whole command line, NULL at its end */
};

/* 0, or the exit code after a message: the command runs now. *live is to be closed in both cases. */
int lock_live_open(const struct lock_live_config *config, struct lock_live **live);
/* Runs until the command or the target ends, or a signal comes. After a failure the job has the earlier results. */
TALLY_MUST_CHECK enum tally_status lock_live_run(struct lock_live *live, struct tally_error *err);
/* After the run: the command's exit status; 0: there was no command. */
int lock_live_exit_code(const struct lock_live *live);
void lock_live_close(struct lock_live *live);

#endif

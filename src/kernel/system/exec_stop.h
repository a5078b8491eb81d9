/* SPDX-License-Identifier: Apache-2.0 */
/*
 * exec_stop.h - predicts whether the kernel ends the events of a command at its exec: it does if the user may not read
 * the program, or if the program changes privileges (set-user-ID, set-group-ID, file capabilities). The command runs
 * on.
 *
 * Events that hang up while their thread lives were ended in this way. After the command has ended there is no such
 * sign, so the program's file is examined instead. Any thread. Source: execve(2), perf_event_open(2), proc(5).
 *
 *	if (recorder_target_is_over(r) && !thread_is_ending(kernel, pid)) ...
 *	if (exec_stop_explain(argv[0], &reason)) ...
 *
 *	exec_sentinel_open(&sentinel, kernel, pid); ... if (exec_sentinel_is_cut_off(&sentinel)) ...
 *	exec_sentinel_close(&sentinel);
 */
#ifndef KERNEL_SYSTEM_EXEC_STOP_H
#define KERNEL_SYSTEM_EXEC_STOP_H

#include "base/text.h"
#include "kernel/system/kernel_seam.h"

/* Whether a thread is exiting, or has ended. */
bool thread_is_ending(const struct kernel_seam *kernel, pid_t tid);
/* Explains why events end at the exec of a command, which is searched as execvp does: "you may not read /bin/x".
 * False: they do not end. */
bool exec_stop_explain(const char *command, struct text *reason);

/* An event of a thread that counts nothing and has a ring: only such events report their end. */
struct exec_sentinel {
	const struct kernel_seam *kernel;
	pid_t thread;
	int fd; /* -1: it could not be opened */
	void *ring;
	size_t ring_bytes;
};

void exec_sentinel_open(struct exec_sentinel *s, const struct kernel_seam *kernel, pid_t thread);
/* Whether the kernel ended the thread's events although the thread continues. */
bool exec_sentinel_is_cut_off(const struct exec_sentinel *s);
/* Also valid for one that was never opened and has fd -1. */
void exec_sentinel_close(struct exec_sentinel *s);

#endif

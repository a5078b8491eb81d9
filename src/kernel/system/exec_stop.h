/* SPDX-License-Identifier: Apache-2.0 */
/*
 * exec_stop.h - detects that the kernel ends the events of a command at its exec: it does so if the user may not read
 * the program, or if the program changes privileges (set-user-ID, set-group-ID, file capabilities). The command
 * continues.
 *
 * If the events of a thread hang up (POLLHUP) while the thread lives, the kernel has ended them in this way. After the
 * command has ended, this cannot be detected, so the file of the program is examined instead. Any thread. Source:
 * execve(2), perf_event_open(2), proc(5).
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

/* Returns whether a thread is exiting or has ended. */
bool thread_is_ending(const struct kernel_seam *kernel, pid_t tid);
/* Appends why events end at the exec of a command ("you may not read /bin/x"); its file is searched as by execvp(3).
 * Returns false if they do not end. */
bool exec_stop_explain(const char *command, struct text *reason);

/* An event of a thread that counts nothing but has a ring, because only events with a ring report their end. */
struct exec_sentinel {
	const struct kernel_seam *kernel;
	pid_t thread;
	int fd; /* -1 if not open. */
	void *ring;
	size_t ring_bytes;
};

/* Opens the event. On failure, fd is -1, and exec_sentinel_is_cut_off returns false. */
void exec_sentinel_open(struct exec_sentinel *s, const struct kernel_seam *kernel, pid_t thread);
/* Returns whether the kernel ended the events of the thread although the thread continues. */
bool exec_sentinel_is_cut_off(const struct exec_sentinel *s);
/* Closes the event; does nothing if fd is -1. */
void exec_sentinel_close(struct exec_sentinel *s);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * interrupts.h - decides whether a failed system call is repeated because a signal interrupted it.
 *
 * The number of repetitions is limited, because a sandbox or tracer may return EINTR each time.
 *
 *	unsigned interrupts = 0;
 *	do
 *		n = read(fd, bytes, size);
 *	while (n < 0 && is_interrupted(&interrupts));
 *	if (wait_for_process(pid, &status, 0) < 0) ...
 */
#ifndef BASE_INTERRUPTS_H
#define BASE_INTERRUPTS_H

#include <errno.h>
#include <stdbool.h>
#include <sys/types.h>
#include <sys/wait.h>

#define INTERRUPTS_MAX 100000 /* Maximum number of repetitions of one call, or in one loop. */

/* Returns true if errno is EINTR and the limit is not reached. */
static inline bool is_interrupted(unsigned *interrupts)
{
	return errno == EINTR && ++*interrupts <= INTERRUPTS_MAX;
}

/* Like waitpid, but continues after signals. status may be NULL, and is unchanged after a failure. */
static inline pid_t wait_for_process(pid_t pid, int *status, int options)
{
	unsigned interrupts = 0;
	pid_t got;
	do
		got = waitpid(pid, status, options);
	while (got < 0 && is_interrupted(&interrupts));
	return got;
}

#endif

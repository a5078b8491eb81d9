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
 */
#ifndef BASE_INTERRUPTS_H
#define BASE_INTERRUPTS_H

#include <errno.h>
#include <stdbool.h>

#define INTERRUPTS_MAX 100000 /* Maximum number of repetitions of one call, or in one loop. */

/* Returns true if errno is EINTR and the limit is not reached. */
static inline bool is_interrupted(unsigned *interrupts)
{
	return errno == EINTR && ++*interrupts <= INTERRUPTS_MAX;
}

#endif

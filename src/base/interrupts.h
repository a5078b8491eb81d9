/* SPDX-License-Identifier: Apache-2.0 */
/*
 * interrupts.h - decides whether a system call that failed is made again because a signal interrupted it.
 *
 * The count has a limit: a sandbox, or a tracer, may answer EINTR each time, and a loop would have no end.
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

#define INTERRUPTS_MAX 100000 /* of one call, or of the calls of one loop */

/* By errno. */
static inline bool is_interrupted(unsigned *interrupts)
{
	return errno == EINTR && ++*interrupts <= INTERRUPTS_MAX;
}

#endif

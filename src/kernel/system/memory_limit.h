/* SPDX-License-Identifier: Apache-2.0 */
/*
 * memory_limit.h - how much memory this process may still take before the kernel ends it, or refuses it: the least that
 * the limits of its control groups (both versions, all levels that can be seen), RLIMIT_AS, RLIMIT_DATA and the machine
 * leave. What control groups hold of files does not count: it is given back. Asked anew each time: others take memory too.
 *
 *	uint64_t bytes = memory_limit_left("");
 */
#ifndef KERNEL_SYSTEM_MEMORY_LIMIT_H
#define KERNEL_SYSTEM_MEMORY_LIMIT_H

#include <stdint.h>

/* root: what is before /proc and /sys; "" is this machine. UINT64_MAX: nothing is known. */
uint64_t memory_limit_left(const char *root);

#endif

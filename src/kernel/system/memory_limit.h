/* SPDX-License-Identifier: Apache-2.0 */
/*
 * memory_limit.h - computes how much more memory this process may use before the kernel refuses it or kills the
 * process: the minimum over its control groups (both versions, all visible levels), RLIMIT_AS, RLIMIT_DATA and the
 * machine. File pages of control groups do not count as used, because the kernel can drop them. The value is computed
 * anew each time, because other processes use memory too.
 *
 *	uint64_t bytes = memory_limit_left("");
 */
#ifndef KERNEL_SYSTEM_MEMORY_LIMIT_H
#define KERNEL_SYSTEM_MEMORY_LIMIT_H

#include <stdint.h>

/* Returns the number of bytes; UINT64_MAX if unknown. root is the prefix of /proc and /sys, "" for this machine. */
uint64_t memory_limit_left(const char *root);

#endif

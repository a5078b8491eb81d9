/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fd_limit.h - raises RLIMIT_NOFILE as far as allowed, to make room for descriptors. Changes the whole process.
 *
 *	fd_limit_make_room(events * cpus * threads + 64);
 */
#ifndef KERNEL_SYSTEM_FD_LIMIT_H
#define KERNEL_SYSTEM_FD_LIMIT_H

#include <stdbool.h>
#include <stddef.h>

/* True if so many descriptors can be opened besides those that are open. */
bool fd_limit_make_room(size_t count);

#endif

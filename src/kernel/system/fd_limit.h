/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fd_limit.h - raises the soft limit of open files (RLIMIT_NOFILE) of the process up to the hard limit.
 *
 *	fd_limit_make_room(events * cpus * threads + 64);
 */
#ifndef KERNEL_SYSTEM_FD_LIMIT_H
#define KERNEL_SYSTEM_FD_LIMIT_H

#include <stdbool.h>
#include <stddef.h>

/* Returns whether this number of descriptors can be opened in addition to the open ones, after raising the limit. */
bool fd_limit_make_room(size_t count);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * idle_functions.h - classifies functions that only wait for work: of event loops, thread pools, runtimes and kernel
 * threads.
 *
 * A thread that waits in one of them is idle, unless one of its callers shows that it waits for something in
 * particular: a database may wait for a lock and for its next client in the same function. Besides constant data there
 * is the user's list: comma-separated patterns, with a leading '!' for functions that are never idle.
 *
 *	if (idle_function_kind(STR("__epoll_wait"), "my_pool_*,!my_query") == IDLE_WAITS) ...
 */
#ifndef PROFILE_IDLE_FUNCTIONS_H
#define PROFILE_IDLE_FUNCTIONS_H

#include "base/bytes.h"

enum idle_kind {
	IDLE_UNKNOWN,
	IDLE_WAITS,
	IDLE_NEVER /* Threads in this function wait for something other than work, whatever its callees. */
};

/* Returns the kind of a function. Leading underscores, parameters and suffixes such as ".constprop.0" and "@plt" are
 * ignored. more has additional names, or is NULL. */
enum idle_kind idle_function_kind(struct tally_str name, const char *more);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/system/fd_limit.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/array.h"

bool fd_limit_make_room(size_t count)
{
	struct rlimit limit;
	if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
		return true;
	/* The lowest free descriptor approximates the number of open ones. */
	int lowest = open("/", O_PATH | O_CLOEXEC);
	if (lowest >= 0)
		close(lowest);
	rlim_t needed = (lowest >= 0 ? (rlim_t)lowest : limit.rlim_cur) + (rlim_t)count;
	if (needed <= limit.rlim_cur)
		return true;
	struct rlimit raised = {.rlim_cur = needed, .rlim_max = MAX(needed, limit.rlim_max)};
	if (setrlimit(RLIMIT_NOFILE, &raised) == 0) /* Root may exceed the hard limit. */
		return true;
	limit.rlim_cur = limit.rlim_max;
	(void)setrlimit(RLIMIT_NOFILE, &limit);
	return needed <= limit.rlim_cur;
}

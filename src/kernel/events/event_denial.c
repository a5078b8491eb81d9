/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/events/event_denial.h"

#include <errno.h>
#include <linux/perf_event.h>

#include "kernel/events/privileges.h"

bool events_are_denied(const struct kernel_seam *kernel, struct text *reason)
{
	const struct event_spec spec = {.name = "cpu-clock:u",
		.scale = 1,
		.unit = "",
		.attr = {.type = EVENT_SOFTWARE,
			.config = SW_CPU_CLOCK,
			.size = ATTR_SIZE_VER0,
			.flags = ATTR_FLAG(ATTR_BIT_DISABLED) | ATTR_FLAG(ATTR_BIT_EXCLUDE_KERNEL) |
				 ATTR_FLAG(ATTR_BIT_EXCLUDE_HV)}};
	int fd = kernel->perf_event_open(kernel->context, &spec.attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	int errnum = errno;
	if (fd >= 0) {
		kernel->close(kernel->context, fd);
		return false;
	}
	if (errnum != EPERM && errnum != EACCES && errnum != ENOSYS)
		return false;
	if (reason)
		refusal_reason(kernel, &spec, 0, -1, errnum, reason);
	return true;
}

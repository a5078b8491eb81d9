/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/events/event_filter.h"

#include <errno.h>
#include <sys/ioctl.h>

#include "base/error.h"

#define IOC_SET_FILTER _IOW('$', 6, char *) /* ioctl number of linux/perf_event.h. */

/* The kernel does not say why it refuses a filter; unknown fields are the usual reason. */
enum tally_status event_filter_set(
	const struct kernel_seam *kernel, const struct event_spec *spec, int fd, struct tally_error *err)
{
	if (!spec->filter || kernel->ioctl(kernel->context, fd, IOC_SET_FILTER, (void *)(uintptr_t)spec->filter) == 0)
		return TALLY_OK;
	return error_set_errno(err, errno == ENOMEM ? TALLY_NOMEM : TALLY_INVALID, errno,
		"failed to set filter \"%s\" on event %s (its fields are in tracefs, events/.../format)", spec->filter,
		spec->name);
}

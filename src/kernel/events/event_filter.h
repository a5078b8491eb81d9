/* SPDX-License-Identifier: Apache-2.0 */
/*
 * event_filter.h - sets the filter of an open tracepoint (--filter, tally_event_filter), with a message for every
 * refusal.
 *
 *	if (fd >= 0 && event_filter_set(kernel, spec, fd, err) != TALLY_OK) close it
 */
#ifndef KERNEL_EVENTS_EVENT_FILTER_H
#define KERNEL_EVENTS_EVENT_FILTER_H

#include "kernel/events/event_spec.h"
#include "kernel/system/kernel_seam.h"

/* Does nothing for an event without a filter. */
TALLY_MUST_CHECK enum tally_status event_filter_set(
	const struct kernel_seam *kernel, const struct event_spec *spec, int fd, struct tally_error *err);

#endif

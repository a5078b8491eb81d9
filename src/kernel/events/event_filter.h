/* SPDX-License-Identifier: Apache-2.0 */
/*
 * event_filter.h - sets the filter of an open tracepoint (--filter), with a message for every refusal.
 *
 *	if (fd >= 0 && event_filter_set(kernel, spec, fd, err) != TALLY_OK) close it
 */
#ifndef KERNEL_EVENTS_EVENT_FILTER_H
#define KERNEL_EVENTS_EVENT_FILTER_H

#include "kernel/events/event_spec.h"
#include "kernel/system/kernel_seam.h"

/* Sets spec->filter on the event of fd; does nothing if it is NULL. Returns TALLY_INVALID if the kernel refuses it. */
TALLY_MUST_CHECK enum tally_status event_filter_set(
	const struct kernel_seam *kernel, const struct event_spec *spec, int fd, struct tally_error *err);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * event_format.h - prints an event list as text: the inverse of event_parser. Parsing the text gives the same list
 * again (attrs, groups, units and given names; filters and cgroups have options of their own and are left out).
 *
 * Pure. The text is appended without a terminating NUL.
 *
 *	struct text t = {0};
 *	event_format(&t, &list);	// "{cycles:u,instructions:u},sched:sched_switch,mem:0x1000/4:w"
 */
#ifndef KERNEL_EVENTS_EVENT_FORMAT_H
#define KERNEL_EVENTS_EVENT_FORMAT_H

#include "base/text.h"
#include "kernel/events/event_spec.h"

void event_format(struct text *text, const struct event_list *list);
/* Formats one event, without its group. */
void event_spec_format(struct text *text, const struct event_spec *spec);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * event_terms.h - parses the terms between the slashes of an event: "event=0x3c,umask=1,name=x", "r1a8",
 * "config=3,period=1000".
 *
 * For a PMU, terms are its formats and named events from sysfs; a generic event accepts only the terms that any event
 * accepts. Terms that control recording are stored in spec->recording; unsupported terms are refused by name.
 */
#ifndef KERNEL_EVENTS_EVENT_TERMS_H
#define KERNEL_EVENTS_EVENT_TERMS_H

#include "kernel/events/catalogue.h"
#include "kernel/events/event_spec.h"

/* pmu NULL: a generic event. On failure err->offset is the column in terms (TALLY_NO_OFFSET: all of it). Strings go to
 * list_arena. */
TALLY_MUST_CHECK enum tally_status event_terms_apply(const struct event_catalogue *catalogue, const struct pmu *pmu,
	struct tally_str terms, struct arena *list_arena, struct event_spec *spec, struct tally_error *err);

/* The length of the terms at the start of text: up to the first slash outside of quotes ('...' after an equals
 * sign). */
size_t event_terms_length(struct tally_str text);

#endif

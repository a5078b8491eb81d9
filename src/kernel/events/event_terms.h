/* SPDX-License-Identifier: Apache-2.0 */
/*
 * event_terms.h - parses the terms between the slashes of an event: "event=0x3c,umask=1,name=x", "r1a8",
 * "config=3,period=1000".
 *
 * Terms of a PMU are its formats and named events in sysfs; a generic event accepts only the terms that any event
 * accepts. Terms that control recording are stored in spec->recording; unsupported terms are refused by name.
 */
#ifndef KERNEL_EVENTS_EVENT_TERMS_H
#define KERNEL_EVENTS_EVENT_TERMS_H

#include "kernel/events/catalogue.h"
#include "kernel/events/event_spec.h"

/* Applies the terms to spec; pmu is NULL for a generic event. On failure, err->offset is the column in terms, or
 * TALLY_NO_OFFSET if the error concerns no single term. Strings of spec are allocated in list_arena. */
TALLY_MUST_CHECK enum tally_status event_terms_apply(const struct event_catalogue *catalogue, const struct pmu *pmu,
	struct tally_str terms, struct arena *list_arena, struct event_spec *spec, struct tally_error *err);

/* Returns the length of the terms at the start of text, which end at the first slash outside of quotes ('...' after an
 * equals sign). */
size_t event_terms_length(struct tally_str text);

#endif

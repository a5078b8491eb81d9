/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pfm_events.h - parses vendors' event names with libpfm4 into an event_list, and lists these names.
 *
 * The library is loaded when it is first needed, because that takes longer than a short run of stat. It looks at the
 * CPU itself, not through the kernel seam (LIBPFM_FORCE_PMU names another model). One thread.
 *
 *	if (pfm_events_parse(catalogue, "{inst_retired:any_p:u,skl::unhalted_core_cycles}", &list, err) != TALLY_OK) ...
 *
 * Source: libpfm(3), pfm_get_os_event_encoding(3).
 */
#ifndef KERNEL_EVENTS_PFM_EVENTS_H
#define KERNEL_EVENTS_PFM_EVENTS_H

#include "kernel/events/catalogue.h"
#include "kernel/events/event_spec.h"

struct pfm_library;

struct pfm_name { /* valid during the call that gets it */
	const char *pmu, *event;
	const char *mask; /* NULL: the event has none */
	const char *description;
};
/* False: stop. */
typedef bool (*pfm_each)(void *context, const struct pfm_name *name);

/* UNSUPPORTED: built without libpfm4's header, or it is not installed. While one user has it open, others open it at once. */
TALLY_MUST_CHECK enum tally_status pfm_library_open(struct pfm_library **library, struct tally_error *err);
void pfm_library_close(struct pfm_library *library);
/* Every name of the PMUs of this CPU. NOT_FOUND: there are none, because the library does not know the CPU. */
TALLY_MUST_CHECK enum tally_status pfm_library_names(
	struct pfm_library *library, pfm_each each, void *context, struct tally_error *err);

/* Names with commas between, {groups}. Appends to list, which is untouched on failure; err->offset is the column. */
TALLY_MUST_CHECK enum tally_status pfm_events_parse(
	const struct event_catalogue *catalogue, const char *text, struct event_list *list, struct tally_error *err);

#endif

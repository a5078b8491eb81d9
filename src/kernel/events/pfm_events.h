/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pfm_events.h - parses vendors' event names with libpfm4 into an event_list, and lists these names.
 *
 * The library is loaded when it is first needed, because loading takes longer than a short run of stat. It identifies
 * the CPU itself, not through the kernel seam (LIBPFM_FORCE_PMU selects another model). One thread.
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

struct pfm_name { /* Valid during the call of pfm_each. */
	const char *pmu, *event;
	const char *mask; /* NULL if the event has none. */
	const char *description;
};
/* Called for each name; returns false to stop. */
typedef bool (*pfm_each)(void *context, const struct pfm_name *name);

/* Opens the library, which is loaded only once if it is opened several times. Returns TALLY_UNSUPPORTED if this program
 * was built without the header of libpfm4, or if the library is not installed. */
TALLY_MUST_CHECK enum tally_status pfm_library_open(struct pfm_library **library, struct tally_error *err);
void pfm_library_close(struct pfm_library *library);
/* Visits all event names of the PMUs of this CPU. Returns TALLY_NOT_FOUND if the library does not know the CPU. */
TALLY_MUST_CHECK enum tally_status pfm_library_names(
	struct pfm_library *library, pfm_each each, void *context, struct tally_error *err);

/* Parses names separated by commas, with {groups}, and appends the events to list. On failure the list is unchanged and
 * err->offset is the column. */
TALLY_MUST_CHECK enum tally_status pfm_events_parse(
	const struct event_catalogue *catalogue, const char *text, struct event_list *list, struct tally_error *err);

#endif

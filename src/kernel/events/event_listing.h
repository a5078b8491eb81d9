/* SPDX-License-Identifier: Apache-2.0 */
/*
 * event_listing.h - lists the events of this machine by name for `list`, and tells whether each of them opens here.
 *
 * The caller owns the listing (event_listing_deinit); names live in its arena. One thread. If tracefs cannot be read,
 * tracepoints are left out and tracefs_error says why; vendor_error does so for vendors' events.
 *
 *	struct event_listing listing;
 *	event_listing_init(&listing, catalogue);
 *	event_listing_add(&listing, 1u << LISTED_SOFTWARE, "*", err);
 *	for each: event_opening_try(&listing, &listing.events.items[i], &opening, err);
 */
#ifndef KERNEL_EVENTS_EVENT_LISTING_H
#define KERNEL_EVENTS_EVENT_LISTING_H

#include "base/text.h"
#include "base/vec.h"
#include "kernel/events/catalogue.h"

enum listed_kind {
	LISTED_HARDWARE,
	LISTED_SOFTWARE,
	LISTED_TOOL,
	LISTED_CACHE,
	LISTED_PMU,
	LISTED_SYNTAX_RAW, /* how to write an event, not a name of one */
	LISTED_SYNTAX_BREAKPOINT,
	LISTED_TRACEPOINT,
	LISTED_VENDOR, /* by libpfm4, for --pfm-events */
	LISTED_SDT, /* a probe that a program describes: the caller adds them */
	LISTED_KINDS
};
#define LISTED_ALL ((1u << LISTED_KINDS) - 1)

struct listed_event {
	enum listed_kind kind;
	const char *name; /* as -e takes it */
	const char *alias; /* NULL none */
	const char *pmu; /* LISTED_PMU, LISTED_VENDOR: whose */
	const char *terms; /* LISTED_PMU: the kernel's terms for it */
	const char *description; /* NULL none */
	const char *unit; /* NULL none */
	double scale;
};

struct event_listing {
	struct event_catalogue *catalogue; /* borrowed */
	struct arena arena;
	VEC(struct listed_event) events;
	struct tally_error tracefs_error; /* status OK: the tracepoints are there */
	struct tally_error vendor_error; /* status OK: vendors' names are listed, or were not requested */
	struct pfm_library *pfm; /* NULL: not loaded */
};

struct event_opening {
	bool was_tried; /* false for syntax and the tool's own events */
	bool opens;
	struct text encoding; /* "pmu/config=0x1,.../"; empty for what was not parsed */
	struct text reason; /* why not */
};

void event_listing_init(struct event_listing *listing, struct event_catalogue *catalogue);
void event_listing_deinit(struct event_listing *listing);
/* Appends the events of these kinds (bits) whose name or alias matches the pattern (* ? [set], case does not matter). */
TALLY_MUST_CHECK enum tally_status event_listing_add(
	struct event_listing *listing, unsigned kinds, const char *pattern, struct tally_error *err);
/* Parses the name, and (if by_opening) opens the event disabled, for this thread or, if it counts CPUs, on the first of
 * its CPUs. It fails only if memory runs out. */
TALLY_MUST_CHECK enum tally_status event_opening_try(struct event_listing *listing, const struct listed_event *event,
	bool by_opening, struct event_opening *opening, struct tally_error *err);
void event_opening_deinit(struct event_opening *opening);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * event_listing.h - lists the events of this machine by name for `tally list`, and tests whether they can be opened.
 *
 * The caller owns the listing (event_listing_deinit); names live in its arena. One thread. If tracefs cannot be read,
 * tracepoints are left out and tracefs_error says why; vendor_error does the same for the events of libpfm4.
 *
 *	struct event_listing listing;
 *	event_listing_init(&listing, catalogue);
 *	event_listing_add(&listing, 1u << LISTED_SOFTWARE, "*", err);
 *	for each: event_opening_try(&listing, &listing.events.items[i], true, &opening, err); ...
 *		event_opening_deinit(&opening);
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
	LISTED_SYNTAX_RAW, /* A syntax for raw events, not the name of an event. */
	LISTED_SYNTAX_BREAKPOINT,
	LISTED_TRACEPOINT,
	LISTED_VENDOR, /* An event of libpfm4, for --pfm-events. */
	LISTED_SDT, /* A probe that a binary defines (SDT); the caller adds them. */
	LISTED_KINDS
};
#define LISTED_ALL ((1u << LISTED_KINDS) - 1)

struct listed_event {
	enum listed_kind kind;
	const char *name; /* As -e accepts it. */
	const char *alias; /* NULL if none. */
	const char *pmu; /* PMU of a LISTED_PMU or LISTED_VENDOR. */
	const char *terms; /* Terms of a LISTED_PMU, as sysfs has them. */
	const char *description; /* NULL if none. */
	const char *unit; /* NULL if none. */
	double scale; /* Factor that converts the count to unit. */
};

struct event_listing {
	struct event_catalogue *catalogue; /* Borrowed. */
	struct arena arena;
	VEC(struct listed_event) events;
	struct tally_error tracefs_error; /* Status TALLY_OK if tracepoints could be listed. */
	struct tally_error vendor_error; /* Status TALLY_OK if vendors' events could be listed or were not requested. */
	struct pfm_library *pfm; /* The library libpfm4; NULL if not loaded. */
};

/* The result of event_opening_try. */
struct event_opening {
	bool was_tried; /* False if the event was not opened: without by_opening, or for syntax, tool and SDT events. */
	bool opens; /* Also true if the event was not opened but its name is valid. */
	struct text encoding; /* "pmu/config=0x1,.../"; empty if the name was not parsed. */
	struct text reason; /* Why the event does not open. */
};

void event_listing_init(struct event_listing *listing, struct event_catalogue *catalogue);
void event_listing_deinit(struct event_listing *listing);
/* Appends the events of these kinds (bits) with a name or alias that matches the pattern (* ? [set], in any case). */
TALLY_MUST_CHECK enum tally_status event_listing_add(
	struct event_listing *listing, unsigned kinds, const char *pattern, struct tally_error *err);
/* Parses the name and, if by_opening is set, opens the event disabled: for this thread, or on the first CPU of an event
 * that counts CPUs. Fails only if memory runs out. */
TALLY_MUST_CHECK enum tally_status event_opening_try(struct event_listing *listing, const struct listed_event *event,
	bool by_opening, struct event_opening *opening, struct tally_error *err);
void event_opening_deinit(struct event_opening *opening);

#endif

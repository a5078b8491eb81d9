/* SPDX-License-Identifier: Apache-2.0 */
/*
 * catalogue.h - lists the PMUs and events of this machine, and suggests the nearest name for an unknown one. The
 * generic names are in abi/names; tracepoints in tracepoints.h.
 *
 * The catalogue belongs to the caller (event_catalogue_destroy), and is used by one thread. Event lists do not refer to
 * it, so it may be destroyed before them.
 */
#ifndef KERNEL_EVENTS_CATALOGUE_H
#define KERNEL_EVENTS_CATALOGUE_H

#include "kernel/events/pmu.h"

struct event_catalogue {
	const struct kernel_seam *kernel;
	struct arena arena;
	struct pmu *pmus; /* Sorted by name. */
	size_t pmu_count;
};

TALLY_MUST_CHECK enum tally_status event_catalogue_create(
	const struct kernel_seam *kernel, struct event_catalogue **catalogue, struct tally_error *err);
void event_catalogue_destroy(struct event_catalogue *catalogue);
/* Returns the generic event or PMU with the most similar name, or NULL if none is similar. The name is valid as long as
 * the catalogue. */
const char *event_catalogue_nearest(struct event_catalogue *catalogue, const char *word);
/* Limits generic events to one kind of core: "core" (cpu_core), "atom", or the whole name of a PMU. Returns false if
 * there is no such kind, which is always so on machines with one kind of core. */
bool event_catalogue_limit_cores(struct event_catalogue *catalogue, const char *type);

#endif

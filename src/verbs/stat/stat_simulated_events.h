/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stat_simulated_events.h - says which simulated events stat counts: it reads the words of -e by perf's names.
 *
 * Most names stand for one event of the simulator (simulator/stream.h); cache-references and cache-misses are sums of
 * those of the last level. The caller owns the list (stat_simulated_events_deinit).
 *
 *	struct stat_simulated_events events = {0};
 *	status = stat_simulated_events_add(&events, "instructions,cache-misses:u", err);
 *	... events.list.specs[i], stat_simulated_value(&events, i, &counts)
 */
#ifndef VERBS_STAT_STAT_SIMULATED_EVENTS_H
#define VERBS_STAT_STAT_SIMULATED_EVENTS_H

#include "base/vec.h"
#include "kernel/events/event_parser.h"
#include "tasks/simulation/simulation_counts.h"

struct stat_simulated_events {
	struct event_list list; /* as stat's tables need it */
	VEC(uint64_t) sums; /* per event: the simulated events that it adds up, a bit for each */
};

/* INVALID: a name that is not simulated, with the reason. */
TALLY_MUST_CHECK enum tally_status stat_simulated_events_add(
	struct stat_simulated_events *events, const char *words, struct tally_error *err);
/* Those of a command line without -e; detail 1 (-d) and more: all that there are. */
TALLY_MUST_CHECK enum tally_status stat_simulated_events_add_default(
	struct stat_simulated_events *events, unsigned detail, struct tally_error *err);
void stat_simulated_events_deinit(struct stat_simulated_events *events);
/* The argument of the tool's --events: "instructions,branches". */
void stat_simulated_events_kinds(const struct stat_simulated_events *events, struct text *kinds);
/* False: the model does not have what the event counts (an L2 cache). */
bool stat_simulated_value(const struct stat_simulated_events *events, size_t event,
	const struct simulation_counts *counts, uint64_t *value);

#endif

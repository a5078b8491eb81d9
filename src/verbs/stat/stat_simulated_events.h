/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stat_simulated_events.h - parses -e for simulated events, which have perf's names.
 *
 * Most names stand for one event of the simulator (simulator/stream.h); cache-references and cache-misses are sums of
 * events of the last cache level. The caller owns the list (stat_simulated_events_deinit).
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
	struct event_list list; /* The events in the form that stat's tables need. */
	VEC(uint64_t) sums; /* For each event, a bit mask of the simulator's events that it adds up. */
};

/* Returns INVALID if a name is not simulated. */
TALLY_MUST_CHECK enum tally_status stat_simulated_events_add(
	struct stat_simulated_events *events, const char *words, struct tally_error *err);
/* Adds the events for a command line without -e; detail is the number of -d, and adds all events if it is not 0. */
TALLY_MUST_CHECK enum tally_status stat_simulated_events_add_default(
	struct stat_simulated_events *events, unsigned detail, struct tally_error *err);
void stat_simulated_events_deinit(struct stat_simulated_events *events);
/* Appends the argument of the Valgrind tool's --events, such as "instructions,branches". */
void stat_simulated_events_kinds(const struct stat_simulated_events *events, struct text *kinds);
/* Returns false if the model lacks what the event counts, such as an L2 cache. */
bool stat_simulated_value(const struct stat_simulated_events *events, size_t event,
	const struct simulation_counts *counts, uint64_t *value);

#endif

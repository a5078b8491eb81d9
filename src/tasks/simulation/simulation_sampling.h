/* SPDX-License-Identifier: Apache-2.0 */
/*
 * simulation_sampling.h - determines which simulated events record samples, and how often: it parses the words of -e,
 * and knows the attribute that perf has for each event.
 *
 * Names are those of simulator/stream.h, or perf's other spellings of the same events. An event that perf does not have
 * is stored as a raw event with its number as config, and identified by its name. Values; nothing is owned.
 *
 *	struct simulation_sampling sampling = {0};
 *	simulation_sampling_add(&sampling, "instructions,LLC-load-misses", 0, err);
 */
#ifndef TASKS_SIMULATION_SIMULATION_SAMPLING_H
#define TASKS_SIMULATION_SIMULATION_SAMPLING_H

#include "abi/attr.h"
#include "simulator/stream.h"

struct simulation_sampling {
	struct sim_sampled events[SIM_SAMPLED_MOST];
	size_t len;
};

/* words is the argument of an -e. Each word is a name, which /period=N/ and :u may follow in this order:
 * "instructions/period=1000/:u". period is that of events without a period of their own, or 0 for
 * simulation_event_period. */
TALLY_MUST_CHECK enum tally_status simulation_sampling_add(
	struct simulation_sampling *sampling, const char *words, uint64_t period, struct tally_error *err);
/* Returns false if no event has the name. */
bool simulation_event_find(struct tally_str name, uint32_t *event);
const char *simulation_event_name(uint32_t event);
/* Returns the default period, a prime number, so that samples do not synchronize with a loop. */
uint64_t simulation_event_period(uint32_t event);
/* Returns the word of the tool's option --events by which the event is simulated. */
const char *simulation_event_kind(uint32_t event);
/* Returns an attribute in which only type and config are set. */
struct perf_attr simulation_event_attr(uint32_t event);

#endif

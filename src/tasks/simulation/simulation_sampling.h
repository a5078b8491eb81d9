/* SPDX-License-Identifier: Apache-2.0 */
/*
 * simulation_sampling.h - says which simulated events record samples, and how often: it reads the words of -e, and knows
 * the attr that perf has for each event.
 *
 * Names are those of simulator/stream.h, or perf's other spellings of the same events. An event that perf does not know
 * is stored as a raw event whose config is its number; its name tells it. Values; nothing is owned.
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

/* words: the argument of an -e. Each word may end with :u, and with /period=N/ before that. period: of events without
 * their own; 0: simulation_event_period. */
TALLY_MUST_CHECK enum tally_status simulation_sampling_add(
	struct simulation_sampling *sampling, const char *words, uint64_t period, struct tally_error *err);
/* False: no event has the name. */
bool simulation_event_find(struct tally_str name, uint32_t *event);
const char *simulation_event_name(uint32_t event);
/* The usual period, a prime number, so that samples do not fall into step with a loop. */
uint64_t simulation_event_period(uint32_t event);
/* The word of the tool's option --events that simulates it. */
const char *simulation_event_kind(uint32_t event);
/* type and config. */
struct perf_attr simulation_event_attr(uint32_t event);

#endif

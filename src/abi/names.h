/* SPDX-License-Identifier: Apache-2.0 */
/*
 * names.h - maps the generic events of linux/perf_event.h (hardware, software, hardware cache) to their names and back.
 *
 * Constant tables. Names and aliases are those of `perf list`.
 *
 *	const struct event_symbol *s = event_symbol_find(STR("cycles"));   // s->type, s->config
 *	event_name_append(&text, EVENT_HARDWARE, HW_CPU_CYCLES);	    // "cycles"
 */
#ifndef ABI_NAMES_H
#define ABI_NAMES_H

#include "abi/perf_constants.h"
#include "base/text.h"

struct event_symbol {
	const char *name; /* Name shown by default. */
	const char *alias; /* NULL if none. */
	uint32_t type;
	uint64_t config;
	const char *description; /* One line, for lists. */
};

extern const struct event_symbol event_symbols[];
extern const size_t event_symbol_count;

/* Finds an event by name or alias; NULL if there is none. */
const struct event_symbol *event_symbol_find(struct tally_str name);
/* Converts "L1-dcache-load-misses" and its other spellings, in any case, to a config of EVENT_HW_CACHE. */
bool cache_event_find(struct tally_str name, uint64_t *config);
/* Appends the usual name of a cache event in perf; returns false if config is not valid. */
bool cache_event_append(struct text *text, uint64_t config);
/* Returns whether the cache supports the operation; an instruction cache, for example, has no stores. */
bool cache_event_is_possible(unsigned cache, unsigned op);
/* Appends the usual name of an event without modifiers, such as "raw 0x1a8"; for an event without one, what perf
 * prints: "unknown-hardware", "invalid-cache", "unknown attr type: 8". */
void event_name_append(struct text *text, uint32_t type, uint64_t config);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * names.h - maps the generic events of linux/perf_event.h (hardware, software, hardware cache) to their names and back.
 *
 * Constant tables; nothing is owned. Names as `perf list` shows them; aliases after them.
 *
 *	const struct event_symbol *s = event_symbol_find(STR("cycles"));   // s->type, s->config
 *	event_name_append(&text, EVENT_HARDWARE, HW_CPU_CYCLES);	    // "cycles"
 */
#ifndef ABI_NAMES_H
#define ABI_NAMES_H

#include "abi/perf_constants.h"
#include "base/text.h"

struct event_symbol {
	const char *name; /* as shown if the user did not give a name */
	const char *alias; /* NULL if none */
	uint32_t type;
	uint64_t config;
	const char *description; /* one line, for lists */
};

extern const struct event_symbol event_symbols[];
extern const size_t event_symbol_count;

const struct event_symbol *event_symbol_find(struct tally_str name);
/* "L1-dcache-load-misses" and its other spellings -> config of EVENT_HW_CACHE. Case does not matter. */
bool cache_event_find(struct tally_str name, uint64_t *config);
/* Appends perf's usual name of a cache event; false if config names none. */
bool cache_event_append(struct text *text, uint64_t config);
/* True for the operations that this cache knows (an instruction cache is not stored to). */
bool cache_event_is_possible(unsigned cache, unsigned op);
/* The event's usual name without modifiers, "raw 0x1a8"; an event without a name gets the name that perf prints for it:
 * "unknown-hardware", "invalid-cache", "unknown attr type: 8". */
void event_name_append(struct text *text, uint32_t type, uint64_t config);

#endif

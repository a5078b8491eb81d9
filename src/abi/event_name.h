/*
 * event_name.h - the names of events that the ABI itself defines, and the name to show for an attr that has none
 * stored.
 *
 * Constant tables; the spelling is perf's.
 */
#ifndef ABI_EVENT_NAME_H
#define ABI_EVENT_NAME_H

#include "abi/attr.h"

/* NULL if config is none that has a name. */
const char *event_hardware_name(uint64_t config);
const char *event_software_name(uint64_t config);
/* "L1-dcache-load-misses"; false if id, op or result is out of range. */
bool event_cache_name(struct text *t, uint64_t config);
/* ":u", ":ppp", ":kH" ... as the exclude bits and precise_ip say; nothing for the default. */
void event_modifiers_of_attr(struct text *t, const struct perf_attr *attr);
/* Name and modifiers. */
void event_name_of_attr(struct text *t, const struct perf_attr *attr);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * event_name.h - makes names for attrs that are stored without a name, in the spelling of perf. Pure.
 */
#ifndef ABI_EVENT_NAME_H
#define ABI_EVENT_NAME_H

#include "abi/attr.h"

/* Name of a tracepoint of which only the ID is known: each kernel assigns other IDs. */
#define EVENT_NAME_UNKNOWN_TRACEPOINT "unknown tracepoint"

/* Appends the modifiers for exclude bits and precise_ip, such as ":u" or ":ppp"; nothing for the defaults. */
void event_modifiers_of_attr(struct text *t, const struct perf_attr *attr);
/* Appends name and modifiers. */
void event_name_of_attr(struct text *t, const struct perf_attr *attr);

#endif

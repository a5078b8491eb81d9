/* SPDX-License-Identifier: Apache-2.0 */
/*
 * event_name.h - gives the names of events that the ABI itself defines, and a name for an attr that is stored without
 * one.
 *
 * Constant tables; the spelling is perf's.
 */
#ifndef ABI_EVENT_NAME_H
#define ABI_EVENT_NAME_H

#include "abi/attr.h"

/* The name of a tracepoint that cannot be looked up, because each kernel numbers its tracepoints anew. */
#define EVENT_NAME_UNKNOWN_TRACEPOINT "unknown tracepoint"

/* ":u", ":ppp", ":kH" ... as the exclude bits and precise_ip say; nothing for the default. */
void event_modifiers_of_attr(struct text *t, const struct perf_attr *attr);
/* Name and modifiers. */
void event_name_of_attr(struct text *t, const struct perf_attr *attr);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trace_fields.h - reads numbers and names from a tracepoint's payload by field name.
 *
 * Borrows the printer. Not thread-safe.
 *
 *	uint64_t address;
 *	if (trace_number_of(source.tracepoints, sample.raw, STR("lock_addr"), &address)) ...
 */
#ifndef TASKS_SESSION_TRACE_FIELDS_H
#define TASKS_SESSION_TRACE_FIELDS_H

#include "analysis/tracepoint_fields.h"

/* Returns false and sets *number to 0 if there is no such field, or if the recording does not describe tracepoints
 * (NULL printer). */
bool trace_number_of(
	struct tracepoint_printer *printer, struct tally_bytes raw, struct tally_str name, uint64_t *number);
/* Works like trace_number_of, for the fields that all events have, such as "common_flags". */
bool trace_common_number_of(
	struct tracepoint_printer *printer, struct tally_bytes raw, struct tally_str name, uint64_t *number);
/* Appends the field's text. */
bool trace_text_of(struct tracepoint_printer *printer, struct tally_bytes raw, struct tally_str name, struct text *out);

#endif

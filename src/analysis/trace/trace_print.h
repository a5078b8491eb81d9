/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trace_print.h - formats the payload of a tracepoint as text, by its print format or by that of trace_printk.
 *
 * Everything is borrowed. Bad input: missing parts of a truncated payload are zeros and empty strings.
 *
 *	struct trace_context context = {.swap = swap, .long_bytes = 8};
 *	trace_event_print(&event, &context, raw, &text);
 */
#ifndef ANALYSIS_TRACE_PRINT_H
#define ANALYSIS_TRACE_PRINT_H

#include "analysis/trace/trace_value.h"

void trace_event_print(
	const struct trace_event *event, const struct trace_context *context, struct tally_bytes raw, struct text *t);
/* Appends each of the event's own fields without formatting: " name=value". */
void trace_event_print_raw(
	const struct trace_event *event, const struct trace_context *context, struct tally_bytes raw, struct text *t);
/* Appends the value that follows a field's name in the text of the print format ("name=value", "name: value"). A field
 * that the format does not name is appended by itself. */
void trace_event_print_field(const struct trace_event *event, uint32_t field, const struct trace_context *context,
	struct tally_bytes raw, struct text *t);
/* Appends a field by itself: a number, a text, or "ARRAY[01, 02]". */
void trace_field_print(
	const struct trace_field *field, const struct trace_context *context, struct tally_bytes raw, struct text *t);

#endif

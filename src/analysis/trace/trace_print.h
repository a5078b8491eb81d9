/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trace_print.h - prints the payload of a tracepoint as text, by its print format or that of trace_printk.
 *
 * Everything is borrowed. Bad input: a payload that is too short gives zeros and empty strings for what it lacks.
 *
 *	struct trace_context context = {.swap = swap, .long_bytes = 8};
 *	trace_event_print(&event, &context, raw, &text);
 */
#ifndef ANALYSIS_TRACE_PRINT_H
#define ANALYSIS_TRACE_PRINT_H

#include "analysis/trace/trace_value.h"

void trace_event_print(
	const struct trace_event *event, const struct trace_context *context, struct tally_bytes raw, struct text *t);
/* Prints each of the event's own fields without formatting: " name=value". */
void trace_event_print_raw(
	const struct trace_event *event, const struct trace_context *context, struct tally_bytes raw, struct text *t);
/* The value behind a field's name in the text that the print format makes ("name=value", "name: value"); the value of a
 * field that the format does not name is printed by itself. */
void trace_event_print_field(const struct trace_event *event, uint32_t field, const struct trace_context *context,
	struct tally_bytes raw, struct text *t);
/* A field alone: a number, text, or "ARRAY[01, 02]". */
void trace_field_print(
	const struct trace_field *field, const struct trace_context *context, struct tally_bytes raw, struct text *t);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trace_value.h - evaluates a field or a node of a print format for one payload; the value is a number, bytes or text.
 *
 * Everything is borrowed. Bad input: values beyond the payload's end are 0 or empty, and offsets that lead there are
 * not followed.
 *
 *	struct trace_source source = {event, context, raw};
 *	uint64_t v = trace_number(&source, node);
 */
#ifndef ANALYSIS_TRACE_VALUE_H
#define ANALYSIS_TRACE_VALUE_H

#include "analysis/trace/trace_format.h"
#include "base/map_u64.h"
#include "base/text.h"

struct trace_context {
	bool swap;
	unsigned long_bytes;
	/* Returns the name of the kernel function at *address and sets *address to its start; returns NULL if there is
	 * none. May be NULL. */
	const char *(*find_symbol)(void *owner, uint64_t *address);
	void *owner; /* Passed to find_symbol. */
	/* Maps the address of a trace_printk format to an index in formats; may be NULL. */
	const struct map_u64 *format_ids;
	const struct tally_str *formats;
};

struct trace_source {
	const struct trace_event *event;
	const struct trace_context *context;
	struct tally_bytes raw;
};

/* Returns a number, sign-extended. item is the index in an array, otherwise 0. */
uint64_t trace_field_number(
	const struct trace_field *field, const struct trace_context *context, struct tally_bytes raw, size_t item);
/* Returns the bytes of an array, wherever they are in the payload; cut at the payload's end. */
struct tally_bytes trace_field_bytes(
	const struct trace_field *field, const struct trace_context *context, struct tally_bytes raw);

/* Replaces the parts of print formats that do not depend on the payload by numbers, because the kernel spells out its
 * flags as expressions. */
void trace_event_fold(struct trace_event *event);
uint64_t trace_number(const struct trace_source *source, uint32_t node);
/* Returns the bytes of an array or of a pointer to one; empty for anything else. */
struct tally_bytes trace_bytes(const struct trace_source *source, uint32_t node);
/* Appends the value as %s would print it. */
void trace_text(const struct trace_source *source, uint32_t node, struct text *t);
/* Returns an integer of size bytes at an offset, sign-extended if is_signed is set; 0 if it reaches beyond the end. */
uint64_t trace_load(struct tally_bytes bytes, size_t at, uint32_t size, bool is_signed, bool swap);

#endif

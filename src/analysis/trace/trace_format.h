/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trace_format.h - parses the format file of a tracepoint (events/SYSTEM/NAME/format of tracefs): its fields and its
 * print format.
 *
 * Texts are slices of the format, which must outlive the event; fields, nodes and unescaped texts lie in the caller's
 * arena. The print format's expressions become nodes that refer to each other by index, children first, so evaluation
 * cannot loop; LIMIT_TRACE_DEPTH bounds the depth at parsing. Bad input: an event without a valid name, number or
 * fields is refused; an event whose print format cannot be parsed has is_printable false.
 *
 *	struct trace_event event;
 *	if (trace_event_parse(text, 8, &arena, &event)) ...	// 8: bytes of a long on the machine that recorded
 */
#ifndef ANALYSIS_TRACE_FORMAT_H
#define ANALYSIS_TRACE_FORMAT_H

#include "base/arena.h"
#include "base/bytes.h"
#include "base/vec.h"

struct trace_field {
	struct tally_str name, type;
	uint32_t offset, size; /* bytes in the payload */
	uint32_t item_bytes; /* of a number, of an array's items */
	bool is_signed, is_array, is_string, is_pointer, is_long;
	bool is_dynamic; /* 4 bytes in the payload say where the array lies: length above, offset below */
	bool is_relative; /* that offset counts from behind those 4 bytes */
};

enum trace_node_kind {
	TRACE_NUMBER, /* value; op: 'u' if C counts without sign */
	TRACE_UNKNOWN, /* a constant (text) whose value only the kernel knows: 0, but equal to nothing */
	TRACE_STRING, /* text */
	TRACE_FIELD, /* value: index of the field */
	TRACE_DYNAMIC, /* the same: the array itself */
	TRACE_DYNAMIC_LENGTH,
	TRACE_BITMASK,
	TRACE_UNARY, /* op: - ! ~ and & for "the address of" */
	TRACE_BINARY, /* op: a token of trace_expression.c */
	TRACE_CHOICE, /* a ? b : c */
	TRACE_CAST, /* value: bytes, op: 's' if signed */
	TRACE_INDEX, /* a[b] */
	TRACE_FLAGS, /* a; text: what stands between; list of TRACE_ITEM */
	TRACE_SYMBOLIC, /* a, list */
	TRACE_ITEM, /* a: value, text; the list goes on at b */
	TRACE_HEX, /* a: array, b: length; op: ' ' between bytes, 0 none */
	TRACE_ARRAY /* a: array, b: count, c: bytes of an item */
};

#define TRACE_NO_NODE UINT32_MAX

struct trace_node {
	enum trace_node_kind kind;
	uint32_t a, b, c; /* nodes */
	uint32_t op;
	uint64_t value;
	struct tally_str text;
};

struct trace_event {
	uint32_t id;
	struct tally_str name, system;
	struct trace_field *fields; /* the common ones first */
	uint32_t field_count, common_count;
	bool is_printable;
	struct tally_str format; /* unescaped */
	struct trace_node *nodes;
	uint32_t node_count;
	uint32_t *arguments; /* nodes */
	uint32_t argument_count;
};

/* False: it is not valid, or memory ran out (arena.failed); in both cases the event is left out. */
bool trace_event_parse(struct tally_str text, unsigned long_bytes, struct arena *arena, struct trace_event *event);
/* UINT32_MAX if it has none of this name. */
uint32_t trace_event_field(const struct trace_event *event, struct tally_str name);
/* The print format: a string and its arguments, into an event that has its fields. False if it cannot be parsed. */
bool trace_print_parse(struct tally_str text, unsigned long_bytes, struct arena *arena, struct trace_event *event);
/* The unescaped text of a C string, which begins after its opening quote; rest moves behind the closing one. data is
 * NULL if memory ran out or the string has no end. */
struct tally_str trace_string_parse(struct tally_str *rest, struct arena *arena);

#endif

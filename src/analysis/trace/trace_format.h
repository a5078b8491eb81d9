/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trace_format.h - parses the format file of a tracepoint (events/SYSTEM/NAME/format of tracefs): its fields and its
 * print format.
 *
 * Texts are slices of the format, which must outlive the event; fields, nodes and unescaped texts are allocated from
 * the caller's arena. The print format's expressions become nodes that refer to each other by index, children first, so
 * evaluation cannot loop; LIMIT_TRACE_DEPTH bounds the depth at parsing. Bad input: an event without a valid name,
 * number or fields is refused; an event with a print format that cannot be parsed has is_printable false.
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
	uint32_t offset, size; /* In bytes, within the payload. */
	uint32_t item_bytes; /* Size of a number, or of each item of an array. */
	bool is_signed, is_array, is_string, is_pointer, is_long;
	/* 4 bytes in the payload say where the array is: its length in the upper half, its offset in the lower half. */
	bool is_dynamic;
	bool is_relative; /* The offset in a dynamic field is relative to the end of those 4 bytes. */
};

enum trace_node_kind {
	TRACE_NUMBER, /* value; op is 'u' if the number is unsigned. */
	/* A named constant (text) whose value only the kernel knows. It evaluates to 0, but as an item of TRACE_FLAGS
	 * or TRACE_SYMBOLIC it matches no value. */
	TRACE_UNKNOWN,
	TRACE_STRING, /* text. */
	TRACE_FIELD, /* value is the index of the field. */
	TRACE_DYNAMIC, /* value is the index of a dynamic field; the result is its array. */
	TRACE_DYNAMIC_LENGTH, /* value is the index of a dynamic field; the result is its size in bytes. */
	TRACE_BITMASK, /* value is the index of a dynamic field, which is a bit mask. */
	TRACE_UNARY, /* op is one of - ! ~ and &, which stands for "the address of". */
	TRACE_BINARY, /* op is a character or an enum trace_operator. */
	TRACE_CHOICE, /* a ? b : c */
	TRACE_CAST, /* value is the size in bytes; op is 's' if signed. */
	TRACE_INDEX, /* a[b] */
	TRACE_FLAGS, /* a is the value, text the separator; followed by a list of TRACE_ITEM. */
	TRACE_SYMBOLIC, /* a is the value; followed by a list of TRACE_ITEM. */
	TRACE_ITEM, /* a is a value, text its name; b is the next item. */
	TRACE_HEX, /* a is an array, b its length; op is ' ' to separate bytes by blanks, otherwise 0. */
	TRACE_ARRAY /* a is an array, b the number of items, c the size of an item in bytes. */
};

#define TRACE_NO_NODE UINT32_MAX

struct trace_node {
	enum trace_node_kind kind;
	uint32_t a, b, c; /* Indexes of nodes. */
	uint32_t op;
	uint64_t value;
	struct tally_str text;
};

struct trace_event {
	uint32_t id;
	struct tally_str name, system;
	struct trace_field *fields; /* Common fields first. */
	uint32_t field_count, common_count;
	bool is_printable;
	struct tally_str format; /* The print format's string, unescaped. */
	struct trace_node *nodes;
	uint32_t node_count;
	uint32_t *arguments; /* Indexes of nodes. */
	uint32_t argument_count;
};

/* Parses a format. Returns false if it is not valid or if memory ran out (arena->failed); in both cases the event must
 * not be used. */
bool trace_event_parse(struct tally_str text, unsigned long_bytes, struct arena *arena, struct trace_event *event);
/* Returns the index of a field, or UINT32_MAX if there is none with this name. */
uint32_t trace_event_field(const struct trace_event *event, struct tally_str name);
/* Parses the print format, which is a string and its arguments, into an event that already has its fields. Returns
 * false if it cannot be parsed. */
bool trace_print_parse(struct tally_str text, unsigned long_bytes, struct arena *arena, struct trace_event *event);
/* Returns the unescaped text of a C string; *rest starts after the opening quote and is moved past the closing one. The
 * result's data is NULL when out of memory or if the string has no end. */
struct tally_str trace_string_parse(struct tally_str *rest, struct arena *arena);

#endif

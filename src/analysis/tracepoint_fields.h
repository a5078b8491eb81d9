/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tracepoint_fields.h - prints the payload of a tracepoint sample as text, by the formats in the recording's tracing
 * data.
 *
 * Owned by the caller, holds a copy of the tracing data. One thread. Bad input: an invalid format is left out, and its
 * event prints nothing; an event whose print format cannot be parsed is printed field by field.
 *
 *	tracepoint_printer_create(features->tracing_data, &printer, err);
 *	tracepoint_print(printer, &sample.raw, &text);
 */
#ifndef ANALYSIS_TRACEPOINT_FIELDS_H
#define ANALYSIS_TRACEPOINT_FIELDS_H

#include <tally/status.h>

#include "base/bytes.h"
#include "base/text.h"

struct tracepoint_printer;

TALLY_MUST_CHECK enum tally_status tracepoint_printer_create(
	struct tally_bytes tracing_data, struct tracepoint_printer **printer, struct tally_error *err);
/* Finds names for kernel addresses in fields: NULL, or a name that outlives the printer, with the address set to the
 * symbol's start and module to the name of its module (NULL: none). */
typedef const char *(*tracepoint_symbol)(void *context, uint64_t *address, const char **module);
void tracepoint_printer_set_symbols(struct tracepoint_printer *printer, tracepoint_symbol find, void *context);
void tracepoint_printer_destroy(struct tracepoint_printer *printer);
/* False if the event is not described there. */
bool tracepoint_print(struct tracepoint_printer *printer, struct tally_bytes raw, struct text *t);
/* The same with every field as it is: " name=value". */
bool tracepoint_print_raw(struct tracepoint_printer *printer, struct tally_bytes raw, struct text *t);
/* Appends "prev_comm,prev_pid,..." of the tracepoint with this number (attr.config); false if it is not described. */
bool tracepoint_field_names(struct tracepoint_printer *printer, uint64_t id, struct text *t);

enum tracepoint_form { TRACEPOINT_NUMBER, TRACEPOINT_SIGNED, TRACEPOINT_ADDRESS, TRACEPOINT_TEXT };
#define TRACEPOINT_ARRAY_MAX 64 /* items; longer arrays are text */
enum tracepoint_part { TRACEPOINT_COMMON, TRACEPOINT_OWN }; /* fields that all events have, and its own */
struct tracepoint_field {
	struct tally_str name, type; /* type: as C writes it */
	enum tracepoint_form form; /* of the items of an array; arrays of varying length are text */
	unsigned bytes; /* of a number */
	unsigned count; /* of an array's items; else 0 */
	unsigned size; /* of its place in the payload, bytes */
	bool is_dynamic; /* its value is elsewhere in the payload, and ends with a NUL if it is text */
};
struct tracepoint_value {
	struct tracepoint_field field;
	struct tally_str text;
	uint64_t numbers[TRACEPOINT_ARRAY_MAX]; /* sign-extended; one, or as many as the array has */
};
/* Finds the field with this name in a payload's event; false: there is none. */
bool tracepoint_find(const struct tracepoint_printer *printer, struct tally_bytes raw, enum tracepoint_part part,
	struct tally_str name, unsigned *index);
/* The numeric value of a field (the first one of an array), as tracepoint_value_at gives it, but without making its
 * text. False, with *number 0, if the field is text or is missing. */
bool tracepoint_number_of(const struct tracepoint_printer *printer, struct tally_bytes raw, enum tracepoint_part part,
	struct tally_str name, uint64_t *number);
/* The number (attr.config) of a payload's event; false: it is too short. */
bool tracepoint_payload_id(const struct tracepoint_printer *printer, struct tally_bytes raw, uint64_t *id);
/* Iterates over the fields of an event (attr.config); false after the last one, and if the event is not described. */
bool tracepoint_field_at(struct tracepoint_printer *printer, uint64_t id, enum tracepoint_part part, unsigned index,
	struct tracepoint_field *field);
/* Appends a field as the event's print format shows it, else the field alone; false: there is no such field. */
bool tracepoint_field_print(struct tracepoint_printer *printer, struct tally_bytes raw, enum tracepoint_part part,
	unsigned index, struct text *t);
/* The same with the values of a payload; a field beyond the payload's end is 0 or empty. The printer owns the value
 * until its next call. */
bool tracepoint_value_at(struct tracepoint_printer *printer, struct tally_bytes raw, enum tracepoint_part part,
	unsigned index, struct tracepoint_value *value);

#endif

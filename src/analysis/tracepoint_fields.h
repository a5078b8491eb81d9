/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tracepoint_fields.h - formats the payload of a tracepoint sample as text, by the formats in the recording's tracing
 * data.
 *
 * Owned by the caller; it holds a copy of the tracing data. One thread. Bad input: an invalid format is left out, and
 * its event has no text; the fields of an event with a print format that cannot be parsed are printed one by one.
 *
 *	tracepoint_printer_create(features->tracing_data, &printer, err);
 *	tracepoint_print(printer, sample.raw, &text);
 */
#ifndef ANALYSIS_TRACEPOINT_FIELDS_H
#define ANALYSIS_TRACEPOINT_FIELDS_H

#include <tally/status.h>

#include "base/bytes.h"
#include "base/text.h"

struct tracepoint_printer;

/* Fails with TALLY_CORRUPT if the tracing data cannot be read at all. */
TALLY_MUST_CHECK enum tally_status tracepoint_printer_create(
	struct tally_bytes tracing_data, struct tracepoint_printer **printer, struct tally_error *err);
/* Finds names for kernel addresses in fields. Returns NULL, or a name that outlives the printer; *address is set to the
 * symbol's start, and *module to the name of its module or to NULL. */
typedef const char *(*tracepoint_symbol)(void *context, uint64_t *address, const char **module);
void tracepoint_printer_set_symbols(struct tracepoint_printer *printer, tracepoint_symbol find, void *context);
void tracepoint_printer_destroy(struct tracepoint_printer *printer);
/* Appends the payload as text. Returns false if the tracing data does not describe the event. */
bool tracepoint_print(struct tracepoint_printer *printer, struct tally_bytes raw, struct text *t);
/* Appends the event's own fields unformatted: " name=value". Returns false if the tracing data does not describe the
 * event. */
bool tracepoint_print_raw(struct tracepoint_printer *printer, struct tally_bytes raw, struct text *t);
/* Appends "prev_comm,prev_pid,..." for the tracepoint with this number (attr.config). Returns false if it is not
 * described. */
bool tracepoint_field_names(struct tracepoint_printer *printer, uint64_t id, struct text *t);

enum tracepoint_form { TRACEPOINT_NUMBER, TRACEPOINT_SIGNED, TRACEPOINT_ADDRESS, TRACEPOINT_TEXT };
#define TRACEPOINT_ARRAY_MAX 64 /* Maximum number of items; longer arrays are treated as text. */
enum tracepoint_part { TRACEPOINT_COMMON, TRACEPOINT_OWN }; /* Fields that all events have, and the event's own ones. */
struct tracepoint_field {
	struct tally_str name, type; /* type is the C type. */
	/* Form of a number or of each item of an array; arrays of variable length are text. */
	enum tracepoint_form form;
	unsigned bytes; /* Size of a number. */
	unsigned count; /* Number of items of an array, otherwise 0. */
	unsigned size; /* Size of the field in the payload, in bytes. */
	bool is_dynamic; /* The value is elsewhere in the payload, and ends with a NUL if it is text. */
};
struct tracepoint_value {
	struct tracepoint_field field;
	struct tally_str text;
	uint64_t numbers[TRACEPOINT_ARRAY_MAX]; /* Sign-extended; one for each item of an array, otherwise one. */
};
/* Finds the field with this name in a payload's event. Returns false if there is none. */
bool tracepoint_find(const struct tracepoint_printer *printer, struct tally_bytes raw, enum tracepoint_part part,
	struct tally_str name, unsigned *index);
/* Sets *number to the numeric value of a field (of an array, the first item), or to 0 if the field lies beyond the
 * payload's end. Returns false and sets *number to 0 if the field is text or the event has no such field. */
bool tracepoint_number_of(const struct tracepoint_printer *printer, struct tally_bytes raw, enum tracepoint_part part,
	struct tally_str name, uint64_t *number);
/* Sets *id to the number (attr.config) of a payload's event. Returns false if the payload is too short. */
bool tracepoint_payload_id(const struct tracepoint_printer *printer, struct tally_bytes raw, uint64_t *id);
/* Iterates over the fields of an event (attr.config). Returns false after the last one, and if the event is not
 * described. */
bool tracepoint_field_at(struct tracepoint_printer *printer, uint64_t id, enum tracepoint_part part, unsigned index,
	struct tracepoint_field *field);
/* Appends a field as the event's print format shows it, otherwise by itself. Returns false if there is no such
 * field. */
bool tracepoint_field_print(struct tracepoint_printer *printer, struct tally_bytes raw, enum tracepoint_part part,
	unsigned index, struct text *t);
/* Stores a field and its value in a payload; a value beyond the payload's end is 0 or empty. value->text is owned by
 * the printer and valid until the next call of this function. Returns false if there is no such field. */
bool tracepoint_value_at(struct tracepoint_printer *printer, struct tally_bytes raw, enum tracepoint_part part,
	unsigned index, struct tracepoint_value *value);

#endif

/*
 * tracepoint_fields.h - the payload of a tracepoint sample as text, by the formats in the recording's tracing data.
 *
 * Owned by the caller. One thread. Without libtraceevent, create is TALLY_UNSUPPORTED. Bad input: formats that cannot
 *be parsed are left out, and their events print no fields.
 *
 *	tracepoint_printer_create(features->tracing_data, &printer, err);
 *	tracepoint_print(printer, &sample.raw, &text);
 */
#ifndef ANALYSIS_TRACEPOINT_FIELDS_H
#define ANALYSIS_TRACEPOINT_FIELDS_H

#include "base/bytes.h"
#include "base/text.h"
#include <tally/status.h>

struct tracepoint_printer;

TALLY_MUST_CHECK enum tally_status tracepoint_printer_create(
	struct tally_bytes tracing_data, struct tracepoint_printer **printer, struct tally_error *err);
/* Names for addresses of the kernel that fields hold: NULL, or a name that outlives the printer, with the address set to
 * the symbol's start and module to the name of its module (NULL: none). */
typedef const char *(*tracepoint_symbol)(void *context, uint64_t *address, const char **module);
void tracepoint_printer_set_symbols(struct tracepoint_printer *printer, tracepoint_symbol find, void *context);
void tracepoint_printer_destroy(struct tracepoint_printer *printer);
/* False if the event is not described there. */
bool tracepoint_print(struct tracepoint_printer *printer, struct tally_bytes raw, struct text *t);
/* Appends "prev_comm,prev_pid,..." of the tracepoint with this number (attr.config); false if it is not described. */
bool tracepoint_field_names(struct tracepoint_printer *printer, uint64_t id, struct text *t);

struct tracepoint_value {
	struct tally_str name; /* of the field */
	struct tally_str text;
	uint64_t number; /* of a field that is one: not an array, not text */
	bool is_number;
};
/* The fields of a payload in order, but for those that all have; false behind the last one and where the event is not
 * described. The value is the printer's, until its next call. */
bool tracepoint_value_at(
	struct tracepoint_printer *printer, struct tally_bytes raw, unsigned index, struct tracepoint_value *value);

#endif

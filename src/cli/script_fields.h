/*
 * script_fields.h - which columns `tally script` prints for each event: perf's defaults and its -F lists.
 *
 *	uint32_t *fields;	// by event index, FIELD_*; the caller frees it
 *	script_fields_choose("+period", reader, &fields, err);
 */
#ifndef CLI_SCRIPT_FIELDS_H
#define CLI_SCRIPT_FIELDS_H

#include "perfdata/reader.h"

enum script_field {
	FIELD_COMM = 1u << 0,
	FIELD_TID = 1u << 1,
	FIELD_PID = 1u << 2,
	FIELD_TIME = 1u << 3,
	FIELD_CPU = 1u << 4,
	FIELD_EVENT = 1u << 5,
	FIELD_TRACE = 1u << 6,
	FIELD_IP = 1u << 7,
	FIELD_SYM = 1u << 8,
	FIELD_DSO = 1u << 9,
	FIELD_ADDR = 1u << 10,
	FIELD_SYMOFF = 1u << 11,
	FIELD_PERIOD = 1u << 12,
	FIELD_SRCLINE = 1u << 30,
};

/* The list is -F's argument, NULL for the defaults. Those fields that an event's samples lack are left out, or are an
 * error if they were asked for. */
TALLY_MUST_CHECK enum tally_status script_fields_choose(
	const char *list, const struct perfdata_reader *reader, uint32_t **fields, struct tally_error *err);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record_print.h - prints a record as text, in the layout of perf's -D and --show-*-events. Samples: sample_print.h.
 *
 * What is printed begins with "PERF_RECORD_" and the type's name, and ends as perf ends it: records with details with a
 * line end, the others without. Text in a record is printed as it is. Values only; nothing is kept.
 *
 *	record_print(&text, &record, &fields, &hints);   // "PERF_RECORD_COMM exec: ls:77/78\n"
 */
#ifndef ABI_RECORD_PRINT_H
#define ABI_RECORD_PRINT_H

#include "abi/sample.h"

struct record_print_hints {
	uint64_t id; /* of the event, from the trailer; all ones if there is none */
	const char *event_name; /* of the record's event; NULL if there is none */
	uint64_t read_format; /* of that event */
	struct sample_id trailer;
	bool is_listing; /* as --show-*-events has it, which is shorter for LOST */
};

void record_print(struct text *t, const struct record *record, const struct record_fields *fields,
	const struct record_print_hints *hints);
/* Prints only the name, for a record that cannot be decoded. */
void record_print_name(struct text *t, uint32_t type);

#endif

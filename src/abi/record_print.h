/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record_print.h - prints records as text in the format of perf's -D and --show-*-events, except samples.
 *
 * The text begins with "PERF_RECORD_" and the name of the type. As in perf, it ends with a newline only for records
 * with details. Text in a record is printed unchanged. Pure.
 *
 *	record_print(&text, &record, &fields, &hints);   // "PERF_RECORD_COMM exec: ls:77/78\n"
 */
#ifndef ABI_RECORD_PRINT_H
#define ABI_RECORD_PRINT_H

#include "abi/sample.h"

struct record_print_hints {
	uint64_t id; /* ID of the event in the trailer; UINT64_MAX if there is none. */
	const char *event_name; /* Name of the event; NULL if there is none. */
	uint64_t read_format; /* read_format of the event. */
	struct sample_id trailer;
	bool is_listing; /* Prints the format of --show-*-events, which is shorter for LOST. */
};

void record_print(struct text *t, const struct record *record, const struct record_fields *fields,
	const struct record_print_hints *hints);
/* Prints only the name, for a record that cannot be decoded. */
void record_print_name(struct text *t, uint32_t type);

#endif

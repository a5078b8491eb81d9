/* SPDX-License-Identifier: Apache-2.0 */
/*
 * annotate_types.h - adds up the samples of a recording by data type and field (annotate --data-type), and counts the
 * sampled instructions for which no type is known.
 *
 * The job borrows all of its pointers.
 *
 *	annotate_types_print(&job, &out, err);
 */
#ifndef VERBS_ANNOTATE_ANNOTATE_TYPES_H
#define VERBS_ANNOTATE_ANNOTATE_TYPES_H

#include "tasks/listing/annotate_samples.h"
#include "view/data/data_type_json.h"

struct annotate_types_job {
	struct annotate_samples *samples;
	const char *name; /* Name of the only type to print, with or without "struct"; "" or NULL for all types. */
	struct annotate_text_options text;
	const struct tally_str *events; /* Names of the events, beginning with first_event. */
	uint32_t first_event, event_count;
	bool with_type_counts, with_instruction_counts;
	struct json *json; /* An open JSON array, to which one object is appended; NULL for text output. */
	struct diag *notes; /* Receives the reason if no type is printed. */
};

TALLY_MUST_CHECK enum tally_status annotate_types_print(
	const struct annotate_types_job *job, struct text *out, struct tally_error *err);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * annotate_types.h - adds up the samples of a recording by data type and field (annotate --data-type), and counts the
 * sampled instructions without a type.
 *
 * It borrows the samples, whose store has the names.
 *
 *	annotate_types_print(&job, &out, err);
 */
#ifndef VERBS_ANNOTATE_ANNOTATE_TYPES_H
#define VERBS_ANNOTATE_ANNOTATE_TYPES_H

#include "tasks/listing/annotate_samples.h"
#include "view/data/data_type_json.h"

struct annotate_types_job {
	struct annotate_samples *samples;
	const char *name; /* of the only type that is wanted, "struct" may be left out; NULL: all */
	struct annotate_text_options text;
	const struct tally_str *events; /* names, from the first event on */
	uint32_t first_event, event_count;
	bool with_type_counts, with_instruction_counts;
	struct json *json; /* an object of an array; NULL: text */
	struct diag *notes; /* gets the reason where no type is printed */
};

TALLY_MUST_CHECK enum tally_status annotate_types_print(
	const struct annotate_types_job *job, struct text *out, struct tally_error *err);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * annotate_data.h - adds to the instructions of a listing the types of the data that they access (annotate
 * --code-with-type).
 *
 *	annotate_data_add(&listing, &samples, target, true, err);
 */
#ifndef TASKS_LISTING_ANNOTATE_DATA_H
#define TASKS_LISTING_ANNOTATE_DATA_H

#include "tasks/listing/annotate_listing.h"

/* If in_text is set, the type is also appended to the text of the instruction as a comment. Fails only with NOMEM. */
TALLY_MUST_CHECK enum tally_status annotate_data_add(struct annotate_listing *listing,
	const struct annotate_samples *samples, const struct annotate_target *target, bool in_text,
	struct tally_error *err);

#endif

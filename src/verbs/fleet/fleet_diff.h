/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fleet_diff.h - compares two selections of a store, with the hosts of each as replicates: which functions take another
 * share than before, with an interval and a p value, as diff says it of recordings.
 *
 *	fleet_diff(store, &(struct fleet_comparison){.settings = &settings, .base = base, .other = other}, &out, err);
 */
#ifndef VERBS_FLEET_FLEET_DIFF_H
#define VERBS_FLEET_FLEET_DIFF_H

#include "base/diag.h"
#include "verbs/fleet/fleet_settings.h"

#define FLEET_REPLICATES     "host" /* the label that tells replicates apart, unless another one is asked for */
#define FLEET_REPLICATES_MAX 256 /* of a side */

struct fleet_comparison {
	const struct fleet_settings *settings;
	struct fleet_question base, other;
	struct diag *notes; /* what was matched by another name */
};

/* NOT_FOUND: a side has no samples. LIMIT: too many replicates. */
TALLY_MUST_CHECK enum tally_status fleet_diff(struct fleet_store *store, const struct fleet_comparison *comparison,
	struct text *out, struct tally_error *err);

#endif

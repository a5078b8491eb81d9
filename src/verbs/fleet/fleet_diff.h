/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fleet_diff.h - compares two selections of a store, with the hosts of each as replicates: reports the functions with a
 * changed share, with a confidence interval and a p value, as diff does for recordings.
 *
 *	fleet_diff(store, &(struct fleet_comparison){.settings = &settings, .base = base, .other = other}, &out, err);
 */
#ifndef VERBS_FLEET_FLEET_DIFF_H
#define VERBS_FLEET_FLEET_DIFF_H

#include "base/diag.h"
#include "verbs/fleet/fleet_settings.h"

#define FLEET_REPLICATES     "host" /* The default label by which replicates are distinguished. */
#define FLEET_REPLICATES_MAX 256 /* Maximum for each side. */

struct fleet_comparison {
	const struct fleet_settings *settings;
	struct fleet_question base, other;
	struct diag *notes; /* Receives notes about functions that were matched under different names. */
};

/* Returns NOT_FOUND if a side has no samples, LIMIT if it has too many replicates. */
TALLY_MUST_CHECK enum tally_status fleet_diff(struct fleet_store *store, const struct fleet_comparison *comparison,
	struct text *out, struct tally_error *err);

#endif

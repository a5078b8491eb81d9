/* SPDX-License-Identifier: Apache-2.0 */
/*
 * top_annotate.h - collects the samples of a live profile by function and address while code is displayed: first those
 * of the last refresh, then new ones. They fade like the profile.
 *
 * The caller owns a top_annotate. Files and their symbols are retained between refreshes, so that only new ones are
 * read. The samples of the previous refresh stay valid until the next one, because the screen may use them. Not
 * thread-safe.
 *
 *	top_annotate_create(&config, &annotate, err);
 *	top_annotate_take(annotate, recording_of_a_refresh, fades, err);
 *	struct annotate_samples *samples = top_annotate_samples(annotate);
 *	top_annotate_destroy(annotate);
 */
#ifndef VERBS_TOP_TOP_ANNOTATE_H
#define VERBS_TOP_TOP_ANNOTATE_H

#include "tasks/listing/annotate_samples.h"

struct top_annotate;

struct top_annotate_config { /* All pointers are borrowed. */
	const struct cli *cli;
	const struct symbol_options *symbols;
};

TALLY_MUST_CHECK enum tally_status top_annotate_create(
	const struct top_annotate_config *config, struct top_annotate **annotate, struct tally_error *err);
void top_annotate_destroy(struct top_annotate *annotate);
/* Adds the samples of recording, which contains the processes and the new records of a refresh
 * (live_profile_recording), and must stay valid until the next call. With fades, the weight of the earlier samples is
 * reduced. After a failure, later calls may fail and add no samples. */
TALLY_MUST_CHECK enum tally_status top_annotate_take(
	struct top_annotate *annotate, struct tally_bytes recording, bool fades, struct tally_error *err);
/* Removes all samples. */
void top_annotate_zero(struct top_annotate *annotate);
/* Returns NULL if there are no samples yet. */
struct annotate_samples *top_annotate_samples(struct top_annotate *annotate);
/* Returns the hottest function of that name in any event, or NULL if it has no samples. */
const struct annotate_target *top_annotate_find(struct top_annotate *annotate, const char *symbol);

#endif

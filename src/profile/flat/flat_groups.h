/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flat_groups.h - groups frames that are equal by the keys of a table, and samples that are equal by the keys that do
 * not depend on frames. A row is one group of frames with one group of samples. Part of flat_table.
 *
 * The two halves are independent and may be made by two threads.
 *
 *	struct flat_groups groups = {0};
 *	flat_groups_frames(&groups, profile, options);	flat_groups_samples(&groups, &table, &chains);
 *	flat_groups_deinit(&groups);
 */
#ifndef PROFILE_FLAT_FLAT_GROUPS_H
#define PROFILE_FLAT_FLAT_GROUPS_H

#include "profile/flat/flat_chains.h"

struct flat_caller { /* a frame as a caller: the fields that most samples need */
	uint32_t group; /* of frames */
	uint8_t level; /* 0: outside every mapping */
};

struct flat_groups {
	size_t frame_groups;
	uint32_t *of_leaf; /* group of frames by frame, as the sample's own */
	struct flat_caller *callers; /* by frame; NULL: callers have no rows */
	size_t sample_groups;
	uint32_t *of_sample; /* BUCKET_NONE: it counts in no row */
	uint32_t *samples; /* those of one group together, each group's in their order */
	uint32_t *begin; /* by group, in samples; one more at the end */
};

/* False: out of memory. */
bool flat_groups_frames(struct flat_groups *groups, const struct profile *profile, const struct flat_options *options);
/* Whether two callers are in one group exactly if their DSOs have the same name and their functions the same address
 * and size, or, without functions, if they have the same address. */
bool flat_groups_callers_by_function(const struct profile *profile, const struct flat_options *options);
/* Also adds up the table's totals. False: out of memory. */
bool flat_groups_samples(struct flat_groups *groups, struct flat_table *table, const struct flat_chains *chains);
void flat_groups_deinit(struct flat_groups *groups);
/* Its share of the elapsed time: the period divided by the number of threads that ran. 0: not known. */
static inline uint64_t flat_sample_latency(const struct profile *p, const struct profile_sample *sample)
{
	const struct profile_value *running = profile_facet(p, sample->facets, FACET_PARALLELISM);
	return running && running->number ? sample->period / running->number : 0;
}

#endif

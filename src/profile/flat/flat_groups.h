/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flat_groups.h - groups frames that are equal by the keys of a table, and samples that are equal by the keys that do
 * not depend on frames. A row is a group of frames combined with a group of samples. Used only by flat_table.
 *
 * Frames and samples are grouped independently, and may be grouped by two threads at the same time.
 *
 *	struct flat_groups groups = {0};
 *	flat_groups_frames(&groups, profile, options);	flat_groups_samples(&groups, &table, &chains);
 *	flat_groups_deinit(&groups);
 */
#ifndef PROFILE_FLAT_FLAT_GROUPS_H
#define PROFILE_FLAT_FLAT_GROUPS_H

#include "profile/flat/flat_chains.h"

struct flat_caller { /* A frame as a caller: the fields that most samples need. */
	uint32_t group; /* Group of frames. */
	uint8_t level; /* 0 if the frame is outside every mapping. */
};

struct flat_groups {
	size_t frame_groups;
	uint32_t *of_leaf; /* Group of each frame as a sample's own frame. */
	struct flat_caller *callers; /* Indexed by frame; NULL if callers have no rows. */
	size_t sample_groups;
	uint32_t *of_sample; /* Group of each sample; BUCKET_NONE if it counts in no row. */
	uint32_t *samples; /* The samples sorted by group, within a group in their original order. */
	uint32_t *begin; /* Index in samples of each group, with one more entry at the end. */
};

/* Returns false when out of memory. */
bool flat_groups_frames(struct flat_groups *groups, const struct profile *profile, const struct flat_options *options);
/* Returns whether two callers are in one group exactly if their DSOs have the same name and their functions the same
 * address and size or, without functions, if they have the same address. */
bool flat_groups_callers_by_function(const struct profile *profile, const struct flat_options *options);
/* Also computes the table's totals. Returns false when out of memory. */
bool flat_groups_samples(struct flat_groups *groups, struct flat_table *table, const struct flat_chains *chains);
void flat_groups_deinit(struct flat_groups *groups);
/* Returns the sample's share of the elapsed time, which is its period divided by the number of running threads; 0 if
 * unknown. */
static inline uint64_t flat_sample_latency(const struct profile *p, const struct profile_sample *sample)
{
	const struct profile_value *running = profile_facet(p, sample->facets, FACET_PARALLELISM);
	return running && running->number ? sample->period / running->number : 0;
}

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * profile_copy.h - adds the samples of one profile, with a share of their weight, to another one under construction:
 * this sums profiles and lets old samples fade.
 *
 * Only what samples refer to is copied: frames, stacks, threads and names of samples that are left out do not come
 * along. The caller must add events and fields: samples keep their event's index, and the builder keeps the facets of
 * the profile. One thread.
 *
 *	struct profile_copy copy = {.from = old, .weight = {7, 8}, .least_count = 16};
 *	if (!profile_copy_samples(&copy, builder)) return error_nomem(err);
 */
#ifndef PROFILE_PROFILE_COPY_H
#define PROFILE_PROFILE_COPY_H

#include "profile/profile_builder.h"

struct profile_ratio {
	uint64_t numerator, denominator;
};

struct profile_copy {
	const struct profile *from;
	struct profile_ratio counts, periods; /* what they are multiplied by, rounded down */
	uint64_t least_count; /* samples with a smaller count are left out */
	uint64_t later; /* added to their order, because they come after others */
	struct tally_str binary, renamed; /* the binary with this short name is renamed; empty: none is */
};

/* False: out of memory. The builder's finish reports wrong IDs. */
bool profile_copy_samples(const struct profile_copy *copy, struct profile_builder *builder);

#endif

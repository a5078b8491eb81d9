/* SPDX-License-Identifier: Apache-2.0 */
/*
 * profile_copy.h - adds the samples of a profile, with a fraction of their weight, to another one under construction:
 * this sums profiles and lets old samples fade.
 *
 * Frames, stacks, threads and names are copied only if copied samples refer to them. The caller must add events and
 * fields: samples keep the index of their event, and the builder must keep the facets of the profile. One thread.
 *
 *	struct profile_copy copy = {.from = old, .counts = {7, 8}, .periods = {7, 8}, .least_count = 16};
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
	struct profile_ratio counts, periods; /* Factors for counts and periods; results are rounded down. */
	uint64_t least_count; /* Samples with a smaller count are left out. */
	uint64_t later; /* Added to the order of the samples, so that they sort after others. */
	struct tally_str binary, renamed; /* Short name of a binary to rename, and its new name; empty for none. */
};

/* Returns false when out of memory. Invalid IDs are reported by profile_builder_finish. */
bool profile_copy_samples(const struct profile_copy *copy, struct profile_builder *builder);

#endif

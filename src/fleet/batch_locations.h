/* SPDX-License-Identifier: Apache-2.0 */
/*
 * batch_locations.h - splits the stack of a sample into locations, as batches and stores keep them: an address of a
 * binary with the frames that are there, which are inlined calls and the function that contains them.
 *
 * A sample without call chain has its own address as its only location. If the chain does not begin with the function
 * of the sample's own address (chains of user mode alone, for samples in the kernel), that address comes first. The
 * chain ends before a waker's frame, since what follows belongs to another thread, and after FLEET_STACK_DEPTH
 * locations. Locations borrow from the profile. One thread.
 *
 *	struct batch_locations found = {0};
 *	if (!batch_locations_find(profile, sample, &found)) return error_nomem(err);
 *	for (size_t i = 0; i < found.list.len; i++) use(&found.list.items[i]);
 *	vec_free(&found.list);
 */
#ifndef FLEET_BATCH_LOCATIONS_H
#define FLEET_BATCH_LOCATIONS_H

#include "base/vec.h"
#include "profile/profile.h"

struct batch_location {
	const uint32_t *frames; /* the innermost inlined call first, the function itself last; one at least */
	uint32_t frame_count;
	uint32_t binary; /* PROFILE_NONE: none */
	uint64_t address;
	uint8_t level; /* enum profile_level */
};
struct batch_locations {
	VEC(struct batch_location) list;
};

/* Replaces what was found before. False: out of memory. It depends on the sample's leaf and stack alone. */
bool batch_locations_find(
	const struct profile *profile, const struct profile_sample *sample, struct batch_locations *found);
/* Whether its address names the same code wherever its build ID is found. It does not in a kernel, which is loaded at
 * another address after each boot, or in generated code: there its symbols belong to it, and are never left out. */
bool batch_location_is_lasting(const struct profile *profile, const struct batch_location *location);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * batch_locations.h - splits the stack of a sample into locations, as batches and stores contain them: an address in a
 * binary with its frames, which are inlined calls and the function that contains them.
 *
 * The address of a sample without a call chain is its only location. If the call chain does not begin with the function
 * of that address (for samples in the kernel with chains of user mode only), the address comes first. The chain ends
 * before the frame of a waker, because what follows belongs to another thread, and after FLEET_STACK_DEPTH locations.
 * Locations borrow from the profile. Used by one thread.
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
	const uint32_t *frames; /* At least one; the innermost inlined call is first, the function itself last. */
	uint32_t frame_count;
	uint32_t binary; /* PROFILE_NONE if none. */
	uint64_t address;
	uint8_t level; /* An enum profile_level. */
};
struct batch_locations {
	VEC(struct batch_location) list;
};

/* Replaces the contents of found by the locations of the sample, which depend only on its leaf and stack. Returns false
 * if memory runs out. */
bool batch_locations_find(
	const struct profile *profile, const struct profile_sample *sample, struct batch_locations *found);
/* Returns whether the address always means the same code in binaries of the same build ID. This is false for a kernel,
 * which is loaded at another address after each boot, and for generated code; symbols of such locations are never left
 * out. */
bool batch_location_is_lasting(const struct profile *profile, const struct batch_location *location);

#endif

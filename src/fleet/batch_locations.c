/* SPDX-License-Identifier: Apache-2.0 */
#include "fleet/batch_locations.h"

#include "base/limits.h"
#include "fleet/batch.h"

/* Number of frames, at least one, at the address of the first frame: inlined frames and the one that contains them. */
static uint32_t batch_locations_count_frames(const struct profile *p, const uint32_t *frames, uint32_t count)
{
	const struct profile_frame *first = &p->frames[frames[0]];
	uint32_t len = 1;
	while (len < count && len <= LIMIT_INLINE_DEPTH && profile_frame_is_inlined(p, frames[len - 1])) {
		const struct profile_frame *frame = &p->frames[frames[len]];
		if (frame->binary != first->binary || frame->level != first->level)
			break;
		len++;
	}
	return len;
}

static bool batch_locations_add(
	struct batch_locations *found, const struct profile *p, const uint32_t *frames, uint32_t count)
{
	const struct profile_frame *first = &p->frames[frames[0]];
	struct batch_location location = {frames, count, first->binary, first->address, first->level};
	return vec_push(&found->list, location);
}

/* Whether the chain begins at the sample's own address. Within one function the addresses may differ, because some CPUs
 * report a more exact address than that of the chain. */
static bool batch_locations_is_begin(const struct profile *p, uint32_t leaf, const uint32_t *frames, uint32_t count)
{
	const struct profile_frame *own = &p->frames[leaf], *first = &p->frames[frames[0]];
	if (own->binary != first->binary || own->level != first->level)
		return false;
	for (uint32_t i = 0; i < count; i++)
		if (frames[i] == leaf ||
			(own->function != PROFILE_NONE && p->frames[frames[i]].function == own->function))
			return true;
	return own->function == PROFILE_NONE && own->address == first->address;
}

bool batch_locations_find(const struct profile *p, const struct profile_sample *sample, struct batch_locations *found)
{
	struct list stack = profile_stack(p, sample->stack);
	found->list.len = 0;
	for (uint32_t i = 0, len; i < stack.count && found->list.len < FLEET_STACK_DEPTH; i += len) {
		if (profile_frame_is_waker(&p->frames[stack.items[i]]))
			break;
		len = batch_locations_count_frames(p, stack.items + i, stack.count - i);
		if (i == 0 && !batch_locations_is_begin(p, sample->leaf, stack.items, len) &&
			!batch_locations_add(found, p, &sample->leaf, 1))
			return false;
		if (!batch_locations_add(found, p, stack.items + i, len))
			return false;
	}
	return found->list.len > 0 || batch_locations_add(found, p, &sample->leaf, 1);
}

bool batch_location_is_lasting(const struct profile *p, const struct batch_location *location)
{
	if (location->binary == PROFILE_NONE || p->binaries[location->binary].is_kernel)
		return false;
	return profile_string(p, p->binaries[location->binary].build_id).len > 0;
}

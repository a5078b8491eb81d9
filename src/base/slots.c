/* SPDX-License-Identifier: Apache-2.0 */
#include "base/slots.h"

#include <stdlib.h>

#include "base/zeroed.h"

#define SLOTS_FIRST_SLOTS 64

bool slots_grow(uint64_t **slots, size_t *count)
{
	return slots_grow_to(slots, count, *count ? *count * 2 : SLOTS_FIRST_SLOTS);
}

bool slots_grow_to(uint64_t **slots, size_t *count, size_t more)
{
	uint64_t *grown = zeroed_new(more, sizeof(*grown));
	if (!grown)
		return false;
	for (size_t i = 0; i < *count; i++) {
		uint64_t slot = (*slots)[i];
		if (!slot)
			continue;
		size_t at = (slot >> 32) & (more - 1);
		while (grown[at])
			at = (at + 1) & (more - 1);
		grown[at] = slot;
	}
	free(*slots);
	*slots = grown;
	*count = more;
	return true;
}

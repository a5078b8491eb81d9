#include "base/slots.h"

#include <stdlib.h>

#include "base/pages.h"

#define FIRST_SLOTS 64

static bool is_large(size_t count)
{
	return count * sizeof(uint64_t) >= HUGE_PAGE_BYTES;
}

uint64_t *slots_new(size_t count)
{
	if (!is_large(count))
		return calloc(count, sizeof(uint64_t));
	return pages_new(count * sizeof(uint64_t));
}

void slots_free(uint64_t *slots, size_t count)
{
	if (is_large(count))
		pages_free(slots, count * sizeof(uint64_t));
	else
		free(slots);
}

bool slots_grow(uint64_t **slots, size_t *count)
{
	return slots_grow_to(slots, count, *count ? *count * 2 : FIRST_SLOTS);
}

bool slots_grow_to(uint64_t **slots, size_t *count, size_t more)
{
	uint64_t *grown = slots_new(more);
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
	slots_free(*slots, *count);
	*slots = grown;
	*count = more;
	return true;
}

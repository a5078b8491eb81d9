#include "base/slots.h"

#include <stdlib.h>
#include <sys/mman.h>

#define FIRST_SLOTS	64
#define HUGE_PAGE_BYTES ((size_t)2 << 20)

static bool is_large(size_t count)
{
	return count * sizeof(uint64_t) >= HUGE_PAGE_BYTES;
}

/*
 * A large table is touched all over: on huge pages that costs a fault per 2 MiB instead of one per page. Fresh pages
 * are zero already.
 */
uint64_t *slots_new(size_t count)
{
	if (!is_large(count))
		return calloc(count, sizeof(uint64_t));
	size_t bytes = count * sizeof(uint64_t);
	void *slots = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (slots == MAP_FAILED)
		return NULL;
	(void)madvise(slots, bytes, MADV_HUGEPAGE);
	return slots;
}

void slots_free(uint64_t *slots, size_t count)
{
	if (is_large(count))
		munmap(slots, count * sizeof(uint64_t));
	else
		free(slots);
}

bool slots_grow(uint64_t **slots, size_t *count)
{
	size_t more = *count ? *count * 2 : FIRST_SLOTS;
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

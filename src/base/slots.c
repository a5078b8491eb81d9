#include "base/slots.h"

#include <stdbool.h>
#include <stdlib.h>
#include <sys/mman.h>

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

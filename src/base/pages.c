#include "base/pages.h"

#include <sys/mman.h>

void *pages_new(size_t bytes)
{
	void *pages = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (pages == MAP_FAILED)
		return NULL;
	(void)madvise(pages, bytes, MADV_HUGEPAGE);
	return pages;
}

void pages_free(void *pages, size_t bytes)
{
	munmap(pages, bytes);
}

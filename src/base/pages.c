#include "base/pages.h"

#include <stdint.h>
#include <stdlib.h>
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

#define HEAP_PIECE  ((size_t)60 << 20) /* below what makes malloc leave its heap, as this program sets it */
#define HEAP_PIECES 2

void pages_expect_heap(size_t bytes)
{
	void *pieces[HEAP_PIECES];
	size_t count = 0;
	for (; count < HEAP_PIECES && count * HEAP_PIECE < bytes; count++) {
		void *piece = malloc(HEAP_PIECE);
		pieces[count] = piece;
		if (!piece)
			break;
		/* Its ends may share their huge pages with what is there already. */
		uintptr_t start = ((uintptr_t)piece + HUGE_PAGE_BYTES - 1) & ~(HUGE_PAGE_BYTES - 1);
		uintptr_t end = ((uintptr_t)piece + HEAP_PIECE) & ~(HUGE_PAGE_BYTES - 1);
		(void)madvise((void *)start, end - start, MADV_HUGEPAGE);
	}
	while (count-- > 0)
		free(pieces[count]);
}

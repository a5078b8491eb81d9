/*
 * pages.h - memory straight from the kernel, zeroed, for what is large and touched all over: on huge pages where there
 * are any, which costs a fault per 2 MiB instead of one per page, and given back at once.
 *
 * The heap is another matter: pages_expect_heap asks for huge pages below what malloc is about to give. A hint only.
 *
 *	void *pages = pages_new(bytes);   ... NULL: out of memory ...   pages_free(pages, bytes);
 */
#ifndef BASE_PAGES_H
#define BASE_PAGES_H

#include <stddef.h>

#define HUGE_PAGE_BYTES ((size_t)2 << 20)

void *pages_new(size_t bytes);
void pages_free(void *pages, size_t bytes);
/* So many more bytes are going to be taken from the heap. */
void pages_expect_heap(size_t bytes);

#endif

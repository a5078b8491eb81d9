/* SPDX-License-Identifier: Apache-2.0 */
/* Replaces memory_watch.c in a program with sanitizers, to make its own allocations fail as failing_calls.h describes:
 * sanitizers permit no other replacement of malloc. */
#include <string.h>

#include "failing_calls.h"

/* NOLINTBEGIN: names that the linker defines */
void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *block, size_t size);
void *__real_reallocarray(void *block, size_t count, size_t size);
void *__real_aligned_alloc(size_t alignment, size_t size);
char *__real_strdup(const char *text);
char *__real_strndup(const char *text, size_t len);

static void *failing_malloc(size_t size)
{
	return failing_allocation() ? NULL : __real_malloc(size);
}

static void *failing_calloc(size_t count, size_t size)
{
	return failing_allocation() ? NULL : __real_calloc(count, size);
}

static void *failing_realloc(void *block, size_t size)
{
	return failing_allocation() ? NULL : __real_realloc(block, size);
}

static void *failing_reallocarray(void *block, size_t count, size_t size)
{
	return failing_allocation() ? NULL : __real_reallocarray(block, count, size);
}

static void *failing_aligned_alloc(size_t alignment, size_t size)
{
	return failing_allocation() ? NULL : __real_aligned_alloc(alignment, size);
}

static char *failing_strdup(const char *text)
{
	return failing_allocation() ? NULL : __real_strdup(text);
}

static char *failing_strndup(const char *text, size_t len)
{
	return failing_allocation() ? NULL : __real_strndup(text, len);
}
/* NOLINTEND */

#define __real_malloc	     failing_malloc
#define __real_calloc	     failing_calloc
#define __real_realloc	     failing_realloc
#define __real_reallocarray  failing_reallocarray
#define __real_aligned_alloc failing_aligned_alloc
#define __real_strdup	     failing_strdup
#define __real_strndup	     failing_strndup
#include "cli/memory_watch.c"

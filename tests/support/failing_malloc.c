/* SPDX-License-Identifier: Apache-2.0 */
#include "failing_malloc.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *old, size_t size);
void *__libc_memalign(size_t alignment, size_t size);
void __libc_free(void *block);

void *malloc(size_t size);
void *calloc(size_t count, size_t size);
void *realloc(void *old, size_t size);
void *aligned_alloc(size_t alignment, size_t size);
void free(void *block);
char *strdup(const char *text);
char *strndup(const char *text, size_t most);

static __thread bool is_counting;
static __thread size_t left;
static __thread bool has_failed;
static __thread long held;

static bool refuses(void)
{
	if (!is_counting)
		return false;
	if (left > 0) {
		left -= left != SIZE_MAX;
		return false;
	}
	has_failed = true;
	errno = ENOMEM;
	return true;
}

static void *count(void *block)
{
	if (is_counting && block)
		held++;
	return block;
}

void *malloc(size_t size)
{
	return refuses() ? NULL : count(__libc_malloc(size));
}

void *calloc(size_t n, size_t size)
{
	return refuses() ? NULL : count(__libc_calloc(n, size));
}

void *realloc(void *old, size_t size)
{
	if (refuses())
		return NULL;
	void *block = __libc_realloc(old, size);
	return old ? block : count(block);
}

void *aligned_alloc(size_t alignment, size_t size)
{
	return refuses() ? NULL : count(__libc_memalign(alignment, size));
}

void free(void *block)
{
	if (is_counting && block)
		held--;
	__libc_free(block);
}

char *strdup(const char *text)
{
	size_t size = strlen(text) + 1;
	char *copy = malloc(size);
	return copy ? memcpy(copy, text, size) : NULL;
}

char *strndup(const char *text, size_t most)
{
	size_t size = strnlen(text, most);
	char *copy = malloc(size + 1);
	if (!copy)
		return NULL;
	copy[size] = '\0';
	return memcpy(copy, text, size);
}

void failing_malloc_begin(size_t nth)
{
	is_counting = true;
	left = nth;
	has_failed = false;
	held = 0;
}

bool failing_malloc_end(void)
{
	is_counting = false;
	return has_failed;
}

long failing_malloc_held(void)
{
	return held;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * memory_watch.c - notes each allocation of this program that fails (error_memory_ran_out in base/error.h).
 *
 * Every allocation has a caller that handles its failure, but not every caller can report it. So the linker redirects
 * the program's calls of malloc, opendir and similar functions to this file (memory_watch_names in meson.build).
 * Allocations inside libraries are not seen; the callers of libraries handle these failures. Any thread.
 */
#include <dirent.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/error.h"

static void *memory_watch_watched(void *block)
{
	if (__builtin_expect(!block, 0))
		(void)error_nomem(NULL);
	return block;
}

/* Handles functions that may also fail for other reasons. */
static void *watched_errno(void *result)
{
	return !result && errno == ENOMEM ? memory_watch_watched(NULL) : result;
}

static int watched_number(int number)
{
	if (number < 0 && errno == ENOMEM)
		(void)memory_watch_watched(NULL);
	return number;
}

/* The linker's option --wrap=NAME redirects calls of NAME to __wrap_NAME, and calls of __real_NAME to NAME. */
#pragma GCC diagnostic ignored "-Wmissing-prototypes"

void *__real_malloc(size_t size);
void *__wrap_malloc(size_t size)
{
	return memory_watch_watched(__real_malloc(size));
}

void *__real_calloc(size_t count, size_t size);
void *__wrap_calloc(size_t count, size_t size)
{
	return memory_watch_watched(__real_calloc(count, size));
}

void *__real_realloc(void *block, size_t size);
void *__wrap_realloc(void *block, size_t size)
{
	void *moved = __real_realloc(block, size);
	return size ? memory_watch_watched(moved) : moved;
}

void *__real_aligned_alloc(size_t alignment, size_t size);
void *__wrap_aligned_alloc(size_t alignment, size_t size)
{
	return memory_watch_watched(__real_aligned_alloc(alignment, size));
}

void *__real_reallocarray(void *block, size_t count, size_t size);
void *__wrap_reallocarray(void *block, size_t count, size_t size)
{
	void *moved = __real_reallocarray(block, count, size);
	return count && size ? memory_watch_watched(moved) : moved;
}

char *__real_strdup(const char *text);
char *__wrap_strdup(const char *text)
{
	return memory_watch_watched(__real_strdup(text));
}

char *__real_strndup(const char *text, size_t len);
char *__wrap_strndup(const char *text, size_t len)
{
	return memory_watch_watched(__real_strndup(text, len));
}

int __wrap_asprintf(char **text, const char *format, ...) TALLY_PRINTF(2, 3);
int __wrap_asprintf(char **text, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	int len = vasprintf(text, format, args);
	va_end(args);
	return watched_number(len);
}

FILE *__real_fdopen(int fd, const char *mode);
FILE *__wrap_fdopen(int fd, const char *mode)
{
	return watched_errno(__real_fdopen(fd, mode));
}

DIR *__real_opendir(const char *path);
DIR *__wrap_opendir(const char *path)
{
	return watched_errno(__real_opendir(path));
}

typedef int scandir_filter(const struct dirent *entry);
typedef int scandir_order(const struct dirent **a, const struct dirent **b);
int __real_scandir(const char *path, struct dirent ***list, scandir_filter *filter, scandir_order *order);
int __wrap_scandir(const char *path, struct dirent ***list, scandir_filter *filter, scandir_order *order)
{
	return watched_number(__real_scandir(path, list, filter, order));
}

DIR *__real_fdopendir(int fd);
DIR *__wrap_fdopendir(int fd)
{
	return watched_errno(__real_fdopendir(fd));
}

char *__real_realpath(const char *path, char *resolved);
char *__wrap_realpath(const char *path, char *resolved)
{
	return watched_errno(__real_realpath(path, resolved));
}

/* Reports failures for mappings of files only. A spool that cannot reserve address space reserves less. */
void *__real_mmap(void *at, size_t size, int protection, int flags, int fd, off_t offset);
void *__wrap_mmap(void *at, size_t size, int protection, int flags, int fd, off_t offset)
{
	void *mapped = __real_mmap(at, size, protection, flags, fd, offset);
	if (mapped == MAP_FAILED && errno == ENOMEM && fd >= 0 && !(flags & MAP_FIXED))
		(void)memory_watch_watched(NULL);
	return mapped;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Preloaded into a program (LD_PRELOAD) to make calls fail as failing_calls.h describes, including calls
 * by libraries. */
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

#include "failing_calls.h"

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *old, size_t size);

__attribute__((visibility("default"))) void *malloc(size_t size)
{
	return failing_allocation() ? NULL : __libc_malloc(size);
}

__attribute__((visibility("default"))) void *calloc(size_t count, size_t size)
{
	return failing_allocation() ? NULL : __libc_calloc(count, size);
}

__attribute__((visibility("default"))) void *realloc(void *old, size_t size)
{
	return failing_allocation() ? NULL : __libc_realloc(old, size);
}

/* Returns whether this write fails, or reduces *len. */
static bool write_fails(int fd, size_t *len)
{
	static atomic_long writes;
	long at = failing_number("FAIL_WRITE"), number;
	int failure = (int)failing_number("FAIL_ERRNO");
	if (at == 0 || fd == STDERR_FILENO)
		return false;
	number = atomic_fetch_add(&writes, 1) + 1;
	if (failure == 0 && number >= at && *len > 1)
		*len = 1;
	if (failure != 0 && number == at)
		errno = failure;
	return failure != 0 && number == at;
}

__attribute__((visibility("default"))) ssize_t write(int fd, const void *data, size_t len)
{
	return write_fails(fd, &len) ? -1 : (ssize_t)syscall(SYS_write, fd, data, len);
}

__attribute__((visibility("default"))) ssize_t pwrite(int fd, const void *data, size_t len, off_t offset)
{
	return write_fails(fd, &len) ? -1 : (ssize_t)syscall(SYS_pwrite64, fd, data, len, offset);
}

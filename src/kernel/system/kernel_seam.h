/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kernel_seam.h - declares the table of functions through which kernel/ uses Linux: the system calls of perf events,
 * and the root of /proc and /sys.
 *
 * The table is constant and passed down from the program; tests pass a scripted kernel and a directory tree. Nothing
 * else in kernel/ calls perf_event_open, or mmap, ioctl or read of an event. Each function returns what the system call
 * returns (-1 and errno on failure).
 *
 *	const struct kernel_seam *kernel = kernel_seam_linux();
 *	int fd = kernel->perf_event_open(kernel->context, &attr, pid, cpu, group_fd, flags);
 */
#ifndef KERNEL_SYSTEM_KERNEL_SEAM_H
#define KERNEL_SYSTEM_KERNEL_SEAM_H

#include <sys/types.h>

#include "abi/attr.h"

struct text;

struct kernel_seam {
	void *context;
	const char *root; /* Prefix of /proc, /sys and tracefs; "" on the real machine. */
	int (*perf_event_open)(
		void *context, const struct perf_attr *attr, pid_t pid, int cpu, int group_fd, unsigned long flags);
	int (*ioctl)(void *context, int fd, unsigned long request, void *argument);
	ssize_t (*read)(void *context, int fd, void *buffer, size_t size);
	void *(*mmap)(void *context, size_t size, int protection, int fd, off_t offset);
	int (*munmap)(void *context, void *address, size_t size);
	int (*close)(void *context, int fd);
	int (*poll)(void *context, void *pollfds, size_t count, int timeout_ms); /* pollfds are struct pollfd. */
	/* If this seam itself caused the failure of perf_event_open with errnum for a thread, appends the reason and
	 * returns true; otherwise returns false. NULL if the seam causes no failures. */
	bool (*explain)(void *context, pid_t pid, int errnum, struct text *reason);
};

/* Returns the table for the running kernel. */
const struct kernel_seam *kernel_seam_linux(void);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "abi/perf_constants.h"
#include "base/file.h"
#include "base/interrupts.h"
#include "base/writer.h"
#include "kernel/system/kernel_seam.h"

static int linux_perf_event_open(
	void *context, const struct perf_attr *attr, pid_t pid, int cpu, int group_fd, unsigned long flags)
{
	struct writer w = {0};
	attr_encode(&w, attr);
	if (w.failed) {
		writer_deinit(&w);
		errno = ENOMEM;
		return -1;
	}
	long fd = syscall(SYS_perf_event_open, w.data, pid, cpu, group_fd, flags | OPEN_FD_CLOEXEC);
	int saved = errno;
	writer_deinit(&w);
	errno = saved;
	return (int)fd;
}

static int linux_ioctl(void *context, int fd, unsigned long request, void *argument)
{
	return file_ioctl(fd, request, argument);
}

static ssize_t linux_read(void *context, int fd, void *buffer, size_t size)
{
	ssize_t n;
	unsigned interrupts = 0;
	do
		n = read(fd, buffer, size);
	while (n < 0 && is_interrupted(&interrupts));
	return n;
}

static void *linux_mmap(void *context, size_t size, int protection, int fd, off_t offset)
{
	return mmap(NULL, size, protection, MAP_SHARED, fd, offset);
}

static int linux_munmap(void *context, void *address, size_t size)
{
	return munmap(address, size);
}

static int linux_close(void *context, int fd)
{
	return close(fd);
}

static int linux_poll(void *context, void *pollfds, size_t count, int timeout_ms)
{
	return poll(pollfds, count, timeout_ms);
}

const struct kernel_seam *kernel_seam_linux(void)
{
	static const struct kernel_seam seam = {
		.root = "",
		.perf_event_open = linux_perf_event_open,
		.ioctl = linux_ioctl,
		.read = linux_read,
		.mmap = linux_mmap,
		.munmap = linux_munmap,
		.close = linux_close,
		.poll = linux_poll,
	};
	return &seam;
}

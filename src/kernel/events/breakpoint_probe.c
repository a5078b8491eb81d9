/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/events/breakpoint_probe.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdatomic.h>
#include <unistd.h>

#define PROBE_USES 8 /* One use would do; several allow for a breakpoint that misses some. */

__attribute__((noinline)) static void breakpoint_probe_called(volatile uint64_t *cell)
{
	*cell = *cell + 1;
}

static enum breakpoint_answer breakpoint_probe_now(const struct kernel_seam *kernel, bool is_code)
{
	volatile uint64_t cell = 0;
	void (*volatile use)(volatile uint64_t *) =
		breakpoint_probe_called; /* The volatile pointer prevents the call of an inlined or cloned copy. */
	uint64_t words[3] = {0}; /* Value, time enabled and time running. */
	struct perf_attr attr = {.type = EVENT_BREAKPOINT};
	attr.bp_type = is_code ? BREAKPOINT_X : BREAKPOINT_W;
	attr.config1 = is_code ? (uint64_t)(uintptr_t)breakpoint_probe_called : (uint64_t)(uintptr_t)&cell;
	attr.config2 = is_code ? sizeof(long) : sizeof(cell);
	attr.read_format = READ_FORMAT_TOTAL_TIME_ENABLED | READ_FORMAT_TOTAL_TIME_RUNNING;
	attr.flags = ATTR_FLAG(ATTR_BIT_DISABLED) | ATTR_FLAG(ATTR_BIT_EXCLUDE_KERNEL) | ATTR_FLAG(ATTR_BIT_EXCLUDE_HV);
	int fd = kernel->perf_event_open(kernel->context, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	if (fd < 0)
		return BREAKPOINT_UNKNOWN;
	bool is_counting = kernel->ioctl(kernel->context, fd, PERF_EVENT_IOC_ENABLE, NULL) >= 0;
	for (int i = 0; i < PROBE_USES; i++)
		use(&cell);
	ssize_t n = kernel->read(kernel->context, fd, words, sizeof(words));
	kernel->close(kernel->context, fd);
	if (!is_counting || n != (ssize_t)sizeof(words))
		return BREAKPOINT_UNKNOWN;
	if (words[0] > 0)
		return BREAKPOINT_FIRES;
	/* If its time running is 0, the breakpoint was never in a debug register, so it is not known whether it
	 * fires. */
	return words[2] > 0 ? BREAKPOINT_SILENT : BREAKPOINT_UNKNOWN;
}

enum breakpoint_answer breakpoint_probe(const struct kernel_seam *kernel, const struct perf_attr *attr)
{
	/* The answer is cached for the running kernel only: that of another kernel_seam, as in tests, may change. */
	static _Atomic enum breakpoint_answer known[2];
	bool is_code = (attr->bp_type & BREAKPOINT_X) != 0, is_kept = kernel == kernel_seam_linux();
	if (!kernel->perf_event_open)
		return BREAKPOINT_UNKNOWN;
	enum breakpoint_answer answer = is_kept ? atomic_load(&known[is_code]) : BREAKPOINT_UNKNOWN;
	if (answer == BREAKPOINT_UNKNOWN) {
		int errnum = errno;
		answer = breakpoint_probe_now(kernel, is_code);
		errno = errnum;
		if (is_kept)
			atomic_store(&known[is_code], answer);
	}
	return answer;
}

int event_open(const struct kernel_seam *kernel, const struct perf_attr *attr, pid_t pid, int cpu, int group_fd,
	unsigned long flags)
{
	int fd = kernel->perf_event_open(kernel->context, attr, pid, cpu, group_fd, flags);
	if (fd < 0 || attr->type != EVENT_BREAKPOINT || breakpoint_probe(kernel, attr) != BREAKPOINT_SILENT)
		return fd;
	kernel->close(kernel->context, fd);
	errno = ENODEV;
	return -1;
}

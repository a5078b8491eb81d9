/* SPDX-License-Identifier: Apache-2.0 */
#include "tasks/recording/wait_looks.h"

#include <fcntl.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "abi/encode.h"
#include "base/clock.h"
#include "kernel/recording/thread_waits.h"

struct perf_attr wait_looks_attr(const struct arch *arch)
{
	return (struct perf_attr){.type = EVENT_SOFTWARE,
		.config = SW_DUMMY,
		.size = ATTR_SIZE_VER7,
		.sample_type = SAMPLE_IDENTIFIER | SAMPLE_IP | SAMPLE_TID | SAMPLE_TIME | SAMPLE_CALLCHAIN |
			       SAMPLE_REGS_USER | SAMPLE_STACK_USER,
		.flags = ATTR_FLAG(ATTR_BIT_SAMPLE_ID_ALL) | ATTR_FLAG(ATTR_BIT_USE_CLOCKID),
		.clockid = CLOCK_MONOTONIC,
		.sample_regs_user = UINT64_C(1) << arch->ip | UINT64_C(1) << arch->sp,
		.sample_stack_user = WAIT_LOOKS_STACK_BYTES};
}

enum wait_state wait_looks_state(char letter)
{
	return letter == 'D' ? WAIT_UNINTERRUPTIBLE : letter == 'S' ? WAIT_SLEEPING : WAIT_STOPPED;
}

/* Reads the stack of a thread from sp on, and returns the number of bytes. The read ends early at the end of the
 * stack's mapping. */
static size_t wait_looks_read_stack(const struct kernel_seam *kernel, uint32_t tid, uint64_t sp, uint8_t *stack)
{
	char path[256];
	if (snprintf(path, sizeof(path), "%s/proc/%u/mem", kernel->root, tid) >= (int)sizeof(path))
		return 0;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	ssize_t got = pread(fd, stack, WAIT_LOOKS_STACK_BYTES, (off_t)sp);
	close(fd);
	return got > 0 ? (size_t)got & ~(size_t)7 : 0;
}

static bool wait_looks_is_same(const struct thread_wait *a, const struct thread_wait *b)
{
	return b->is_waiting && a->switches == b->switches && a->syscall == b->syscall && a->ip == b->ip &&
	       a->sp == b->sp;
}

bool wait_looks_take(const struct kernel_seam *kernel, const struct arch *arch, uint32_t tid, bool wants_stack,
	struct wait_event *event, struct wait_look *look)
{
	const struct thread_wait now = thread_waits_read(kernel, (pid_t)tid);
	/* This time is within the wait if the thread is still in the same wait after its files were read. */
	const uint64_t now_ns = clock_ns();
	writer_clear(&look->sample);
	if (!now.exists || now.is_kernel || !now.is_waiting)
		return false;
	*event = (struct wait_event){.kind = WAIT_EVENT_LOOK,
		.time_ns = now_ns,
		.pid = now.pid,
		.tid = tid,
		.syscall = now.syscall,
		.switches = now.switches == UINT64_MAX ? 0 : now.switches,
		.state = (uint8_t)wait_looks_state(now.state)};
	size_t len = wants_stack && now.sp ? wait_looks_read_stack(kernel, tid, now.sp, look->stack) : 0;
	const struct thread_wait after = thread_waits_read(kernel, (pid_t)tid);
	if (!wait_looks_is_same(&now, &after))
		return false;
	if (!wants_stack || now.ip == 0)
		return true;
	const struct perf_attr attr = wait_looks_attr(arch);
	const uint64_t registers[2] = {arch->ip < arch->sp ? now.ip : now.sp, arch->ip < arch->sp ? now.sp : now.ip};
	const struct record_layout layout = record_layout_make(&attr, false);
	const struct sample made = {.present = attr.sample_type,
		.id = WAIT_LOOKS_ID,
		.ip = now.ip,
		.pid = now.pid,
		.tid = tid,
		.time = now_ns,
		.regs_user = {.abi = REGS_ABI_64,
			.mask = attr.sample_regs_user,
			.values = {(const uint8_t *)registers, 2}},
		.stack_user = {.bytes = {look->stack, len}, .dyn_size = len, .size = len}};
	return sample_encode(&look->sample, &layout, MISC_CPUMODE_USER, &made);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wait_parts.h - splits a time off the CPU, or a sum of such times, into parts that have one state each: blocked until
 * woken, then runnable until the thread ran. Whatever measured the time tells it here.
 *
 * Values; the stacks are borrowed. One thread.
 *
 *	struct wait_parts parts = {.tid = tid, .stack = id, .state = WAIT_SLEEPING, .count = 1, .blocked_ns = ns, ...};
 *	status = wait_parts_tell(&stacks, &parts, &sink, &lost_stacks, err);
 */
#ifndef BPF_WAIT_PARTS_H
#define BPF_WAIT_PARTS_H

#include "abi/wait_record.h"
#include "bpf/wait_stacks.h"

/* A part of one wait, or a sum of such: of one state. */
struct off_cpu_wait {
	uint32_t pid, tid, cpu;
	uint64_t end_ns, period_ns;
	bool is_summed; /* in the kernel, even if there was only one */
	struct wait_record record; /* but for waker_ips, which are: */
	const uint64_t *ips, *waker_ips; /* call chains with markers, valid during the call */
	size_t ips_count, waker_count;
};

struct off_cpu_sink { /* what it returns other than TALLY_OK ends the drain */
	enum tally_status (*take)(void *context, const struct off_cpu_wait *wait, struct tally_error *err);
	void *context;
};

struct wait_parts { /* of one time off the CPU, or of a sum of such */
	uint64_t stack, waker_stack; /* IDs in the wait_stacks; 0: none */
	uint32_t pid, tid, cpu, waker_pid, waker_tid;
	int32_t syscall; /* -1: none or not known */
	enum wait_state state; /* of the blocked part, before the system call tells more */
	uint8_t flags; /* enum wait_flags */
	const char *waker_comm; /* of at most WAIT_RECORD_COMM bytes */
	bool is_summed; /* as off_cpu_wait has it */
	uint64_t count; /* waits in it */
	uint64_t blocked_ns, runnable_ns, woken_ns, end_ns;
	uint64_t throttled_ns; /* of runnable_ns: the CPU quota of its cgroup kept it off the CPU */
};

/* At most three calls of the sink. lost_stacks is raised by the waits whose stack is not known any more. */
TALLY_MUST_CHECK enum tally_status wait_parts_tell(struct wait_stacks *stacks, const struct wait_parts *parts,
	const struct off_cpu_sink *sink, uint64_t *lost_stacks, struct tally_error *err);

#endif

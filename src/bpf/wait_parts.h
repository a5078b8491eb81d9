/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wait_parts.h - splits a wait, or a sum of waits, into parts that have one state each: blocked until woken, then
 * throttled or runnable until the thread ran. All sources of waits report them through this module.
 *
 * The structures are plain values and borrow the stacks. Used by one thread.
 *
 *	struct wait_parts parts = {.tid = tid, .stack = id, .state = WAIT_SLEEPING, .count = 1, .blocked_ns = ns, ...};
 *	status = wait_parts_tell(&stacks, &parts, &sink, &lost_stacks, err);
 */
#ifndef BPF_WAIT_PARTS_H
#define BPF_WAIT_PARTS_H

#include "abi/wait_record.h"
#include "bpf/wait_stacks.h"

/* A part of one wait, or of a sum of waits, that has one state. */
struct off_cpu_wait {
	uint32_t pid, tid, cpu;
	uint64_t end_ns, period_ns; /* Time at which the part ended (CLOCK_MONOTONIC), and its duration. */
	bool is_summed; /* True for a sum that the BPF program made, even of a single wait. */
	struct wait_record record; /* waker_ips is not set here; the members below contain the call chains. */
	const uint64_t *ips, *waker_ips; /* Call chains with PERF_CONTEXT_ markers, valid during the call. */
	size_t ips_count, waker_count;
};

struct off_cpu_sink { /* A status other than TALLY_OK ends the drain. */
	enum tally_status (*take)(void *context, const struct off_cpu_wait *wait, struct tally_error *err);
	void *context;
};

struct wait_parts { /* One wait, or a sum of waits. */
	uint64_t stack, waker_stack; /* IDs in the wait_stacks; 0 if there is no stack. */
	uint32_t pid, tid, cpu, waker_pid, waker_tid;
	int32_t syscall; /* -1 if the thread was in no system call or it is not known. */
	enum wait_state state; /* State of the blocked part, which wait_syscall_state refines. */
	uint8_t flags; /* enum wait_flags */
	const char *waker_comm; /* At most WAIT_RECORD_COMM bytes; not terminated if it has that length. */
	bool is_summed; /* As in struct off_cpu_wait. */
	uint64_t count; /* Number of waits. */
	/* Durations of the blocked and of the runnable part, and the times at which these parts ended. */
	uint64_t blocked_ns, runnable_ns, woken_ns, end_ns;
	/* Part of runnable_ns in which the CPU quota of its cgroup kept the thread off the CPU. */
	uint64_t throttled_ns;
};

/* Calls the sink at most three times. Adds the number of waits with stacks that are no longer known to lost_stacks. */
TALLY_MUST_CHECK enum tally_status wait_parts_tell(struct wait_stacks *stacks, const struct wait_parts *parts,
	const struct off_cpu_sink *sink, uint64_t *lost_stacks, struct tally_error *err);

#endif

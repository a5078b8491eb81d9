/* SPDX-License-Identifier: Apache-2.0 */
#include "bpf/wait_parts.h"

#include <string.h>

#include "bpf/wait_syscalls.h"

enum tally_status wait_parts_tell(struct wait_stacks *stacks, const struct wait_parts *p,
	const struct off_cpu_sink *sink, uint64_t *lost_stacks, struct tally_error *err)
{
	uint64_t chain[WAIT_CHAIN_MOST], waker_chain[WAIT_CHAIN_MOST];
	struct off_cpu_wait wait = {.pid = p->pid,
		.tid = p->tid,
		.cpu = p->cpu,
		.is_summed = p->is_summed,
		.ips = chain,
		.waker_ips = waker_chain};
	enum tally_status status = TALLY_OK;
	wait.ips_count = p->stack ? wait_stacks_chain(stacks, p->stack, chain, WAIT_CHAIN_MOST) : 0;
	if (p->flags & WAIT_FLAG_WAKER && p->waker_stack)
		wait.waker_count = wait_stacks_chain(stacks, p->waker_stack, waker_chain, WAIT_RECORD_FRAMES_MOST);
	if (p->flags & WAIT_FLAG_INTERRUPT)
		wait.waker_count = wait_stacks_interrupt(stacks, waker_chain, wait.waker_count);
	if (p->stack && wait.ips_count == 0)
		*lost_stacks += p->count;
	wait.record = (struct wait_record){.flags = p->flags,
		.count = p->count,
		.syscall = p->syscall,
		.waker_pid = p->waker_pid,
		.waker_tid = p->waker_tid,
		.waker_comm = {p->waker_comm, strnlen(p->waker_comm, WAIT_RECORD_COMM)}};
	if (p->blocked_ns) {
		wait.record.state = wait_syscall_state(p->state, p->syscall);
		wait.period_ns = p->blocked_ns;
		wait.end_ns = p->woken_ns;
		status = sink->take(sink->context, &wait, err);
	}
	/* Throttled time comes before the wait for a CPU, because a throttled queue is released before its threads
	 * run. */
	if (status == TALLY_OK && p->throttled_ns) {
		wait.record.state = WAIT_THROTTLED;
		wait.period_ns = p->throttled_ns;
		wait.end_ns = p->end_ns - (p->is_summed ? 0 : p->runnable_ns - p->throttled_ns);
		status = sink->take(sink->context, &wait, err);
	}
	if (status != TALLY_OK || p->runnable_ns == p->throttled_ns)
		return status;
	wait.record.state = WAIT_RUNNABLE;
	wait.period_ns = p->runnable_ns - p->throttled_ns;
	wait.end_ns = p->end_ns;
	return sink->take(sink->context, &wait, err);
}

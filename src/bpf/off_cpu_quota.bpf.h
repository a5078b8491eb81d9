/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * off_cpu_quota.bpf.h - measures in the BPF program for waits how much of a thread's runnable time is due to the CPU
 * quota of its cgroup (cpu.max, cpu.cfs_quota_us).
 *
 * Since Linux 6.6, the scheduler sums the throttled time of threads in each cgroup's queue on each CPU, and the
 * increase of that sum is exact. On older kernels only the throttled mark of the queue is known when a thread leaves
 * the CPU, and the whole time until the thread runs again counts as throttled.
 *
 *	off_cpu_quota_begin(t, task, true);	// the thread is ready to run from now on
 *	throttled_ns = off_cpu_quota_end(t, task, ready_ns);
 */
#ifndef BPF_OFF_CPU_QUOTA_BPF_H
#define BPF_OFF_CPU_QUOTA_BPF_H

#include "bpf/off_cpu_task.bpf.h"

#define QUOTA_QUEUE ((struct cfs_rq *)0) /* Names the type for bpf_core_field_exists. */

static __always_inline bool quota_has_sums(void)
{
	return bpf_core_field_exists(QUOTA_QUEUE->throttled_clock_self_time) &&
	       bpf_core_field_exists(QUOTA_QUEUE->throttled_clock_self) && bpf_core_field_exists(QUOTA_QUEUE->rq);
}

/*
 * Returns the scheduler's clock of the queue's CPU. The clock of this CPU is current at a switch; another CPU's clock
 * may lag, so the later one is used.
 */
static __always_inline __u64 quota_clock(struct cfs_rq *queue)
{
	__u64 clock = BPF_CORE_READ(queue, rq, clock);
	struct task_struct *current = (void *)bpf_get_current_task();
	__u64 here = BPF_CORE_READ(current, se.cfs_rq, rq, clock);
	return clock > here ? clock : here;
}

/* Returns for how many nanoseconds of the scheduler's clock threads of the queue have been throttled in total. */
static __always_inline __u64 quota_total(struct cfs_rq *queue)
{
	__u64 total = BPF_CORE_READ(queue, throttled_clock_self_time),
	      since = BPF_CORE_READ(queue, throttled_clock_self);
	__u64 clock = since ? quota_clock(queue) : 0;
	return total + (clock > since ? clock - since : 0);
}

static __always_inline bool quota_is_marked(const struct task_struct *task)
{
	if (bpf_core_field_exists(task->throttled)) /* Available since Linux 6.18. */
		return task->throttled;
	return bpf_core_field_exists(QUOTA_QUEUE->throttle_count) && task->se.cfs_rq->throttle_count > 0;
}

/* Called when the thread becomes ready to run, because it was preempted (was_running) or woken. */
static __always_inline void off_cpu_quota_begin(
	struct off_cpu_thread *t, const struct task_struct *task, bool was_running)
{
	t->quota_queue = 0;
	t->is_throttled = 0;
	if (!bpf_core_field_exists(task->se.cfs_rq))
		return;
	t->is_throttled = was_running && quota_is_marked(task);
	if (!quota_has_sums())
		return;
	struct cfs_rq *queue = task->se.cfs_rq;
	t->quota_queue = (__u64)queue;
	t->quota_cpu = bpf_core_field_exists(task->thread_info.cpu) ? task->thread_info.cpu : task->cpu;
	t->quota_ns = quota_total(queue);
}

/* Returns the queue of off_cpu_quota_begin if the thread is still in that cgroup, otherwise NULL. */
static __always_inline struct cfs_rq *quota_queue_of(const struct off_cpu_thread *t, struct task_struct *task)
{
	struct cfs_rq *queue = task->se.cfs_rq;
	if ((__u64)queue == t->quota_queue)
		return queue;
	struct cfs_rq **queues = BPF_CORE_READ(task, sched_task_group, cfs_rq);
	if (bpf_probe_read_kernel(&queue, sizeof(queue), queues + t->quota_cpu) || (__u64)queue != t->quota_queue)
		return NULL;
	return queue;
}

/*
 * Called when the thread runs again, ready_ns after it became ready to run. Returns for how many of these nanoseconds
 * it was throttled.
 */
static __always_inline __u64 off_cpu_quota_end(const struct off_cpu_thread *t, struct task_struct *task, __u64 ready_ns)
{
	if (!bpf_core_field_exists(task->se.cfs_rq))
		return 0;
	if (!quota_has_sums())
		return t->is_throttled ? ready_ns : 0;
	struct cfs_rq *queue = t->quota_queue ? quota_queue_of(t, task) : NULL;
	if (!queue)
		return 0;
	__u64 total = quota_total(queue), throttled = total > t->quota_ns ? total - t->quota_ns : 0;
	return throttled < ready_ns ? throttled : ready_ns;
}

#endif

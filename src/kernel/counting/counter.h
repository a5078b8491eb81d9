/* SPDX-License-Identifier: Apache-2.0 */
/*
 * counter.h - counts events: opens each on the target's CPUs and threads, enables, reads. Sampling is not done here.
 *
 * A counter_set belongs to the caller (counter_set_close) and borrows the seam and the event list, which must outlive
 * it. An event that the machine lacks does not fail the set: it is marked, with the reason. One thread.
 *
 *	struct counter_set *set;
 *	if (counter_set_open(kernel, &events, &target, &options, &set, err) != TALLY_OK) ...
 *	counter_set_enable(set); ... counter_set_read(set, err); ... counter_count(set, event, cpu, thread) ...
 *
 * Source: perf_event_open(2).
 */
#ifndef KERNEL_COUNTING_COUNTER_H
#define KERNEL_COUNTING_COUNTER_H

#include "kernel/events/event_parser.h"
#include "kernel/system/target.h"

struct count { /* as the kernel gives it, unscaled */
	uint64_t value;
	uint64_t enabled_ns, running_ns;
};

struct counter_options {
	bool inherit; /* children of the target count too */
	bool enable_on_exec; /* begins by itself when the (spawned) target execs; else counter_set_enable begins */
	bool starts_enabled; /* events on their own count from opening; groups still need counter_set_enable */
	bool must_fit; /* TALLY_LIMIT before the first is opened, if there are not enough descriptors */
	bool opens_nothing; /* the counts come from elsewhere (tool_counts.h) */
	bool may_drop_kernel; /* if kernel mode is forbidden, count only user mode, and show :u */
};

struct counter { /* one event of the set */
	const struct event_spec *spec;
	const int *cpus; /* where it is opened; the set's or its own PMU's */
	size_t cpu_count;
	int *own_cpus; /* NULL if the set's */
	const pid_t *threads;
	size_t thread_count;
	int *fds; /* cpu_count x thread_count, -1: not open */
	struct count *counts; /* same shape; of the last read */
	uint32_t leader; /* index of the event that it was opened in the group of; own index if none */
	size_t open_count;
	int refused_errnum; /* 0: opened */
	char *reason; /* why it was not opened; NULL: it was. Without errnum: the machine has it, but this user may not count it */
};

struct counter_set {
	const struct kernel_seam *kernel;
	struct event_list *events;
	struct counter *counters;
	size_t len;
	int *cpus;
	size_t cpu_count;
	pid_t *threads;
	size_t thread_count;
	bool dropped_kernel; /* at least one event counts user mode alone */
};

/* The events of the list may be renamed (":u"). TALLY_DENIED: refused for lack of permission; TALLY_LIMIT: too many
 * open files; the message says how many are needed. Unsupported events are not a failure. */
TALLY_MUST_CHECK enum tally_status counter_set_open(const struct kernel_seam *kernel, struct event_list *events,
	const struct target *target, const struct counter_options *options, struct counter_set **set,
	struct tally_error *err);
void counter_set_close(struct counter_set *set);
void counter_set_enable(struct counter_set *set);
void counter_set_disable(struct counter_set *set);
void counter_set_reset(struct counter_set *set);

static inline bool counter_is_supported(const struct counter *counter)
{
	return counter->refused_errnum == 0;
}
static inline struct count counter_count(const struct counter *counter, size_t cpu, size_t thread)
{
	return counter->counts[cpu * counter->thread_count + thread];
}
static inline int counter_fd(const struct counter *counter, size_t cpu, size_t thread)
{
	return counter->fds[cpu * counter->thread_count + thread];
}

/* Forgets what was counted: it reads as not counted. */
void counter_set_drop_counts(struct counter_set *set);

#endif

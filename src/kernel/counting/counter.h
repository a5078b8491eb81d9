/* SPDX-License-Identifier: Apache-2.0 */
/*
 * counter.h - counts events: opens each on the target's CPUs and threads, enables and disables them. It does not
 * sample.
 *
 * A counter_set belongs to the caller (counter_set_close) and borrows the seam and the event list, which must outlive
 * it. An event that the machine lacks is no failure of the set; it is marked, with the reason. One thread.
 *
 *	struct counter_set *set;
 *	if (counter_set_open(kernel, &events, &target, &options, &set, err) != TALLY_OK) ...
 *	counter_set_enable(set); ... counter_set_read(set, err); ... // counter_set_read is in reading.h
 *	struct count count = counter_count(&set->counters[event], cpu, thread);
 *
 * Source: perf_event_open(2).
 */
#ifndef KERNEL_COUNTING_COUNTER_H
#define KERNEL_COUNTING_COUNTER_H

#include "kernel/events/event_parser.h"
#include "kernel/system/target.h"

struct count { /* Unscaled, as the kernel returns it. */
	uint64_t value;
	uint64_t enabled_ns, running_ns;
};

struct counter_options {
	bool inherit; /* Also counts children of the target. */
	bool enable_on_exec; /* Counting starts when the spawned target execs, instead of by counter_set_enable. */
	bool starts_enabled; /* Single events count from opening; groups still need counter_set_enable. */
	bool must_fit; /* Fails with TALLY_LIMIT before opening anything if there are not enough descriptors. */
	bool opens_nothing; /* Opens no event, because tool_counts.h provides the counts. */
	/* If counting in kernel mode is forbidden, counts user mode only and adds ":u" to names. */
	bool may_drop_kernel;
};

struct counter { /* One event of the set. */
	const struct event_spec *spec;
	const int *cpus; /* CPUs on which the event is opened: those of the set, or own_cpus. */
	size_t cpu_count;
	int *own_cpus; /* CPUs of the PMU; NULL if cpus are those of the set. */
	const pid_t *threads;
	size_t thread_count;
	int *fds; /* cpu_count x thread_count descriptors; -1 if not open. */
	struct count *counts; /* Counts of the last read, in the order of fds. */
	uint32_t leader; /* Index of the leader of its group; its own index without a group. */
	size_t open_count;
	int refused_errnum; /* 0 if the event was opened. */
	/* Why the event was not opened; NULL if it was. Set with refused_errnum 0 if the machine has the event but this
	 * user may not count it. */
	char *reason;
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
	bool dropped_kernel; /* At least one event counts only user mode because kernel mode is forbidden. */
};

/* Opens the events of the list; may add ":u" to their names. Returns TALLY_DENIED if a permission is missing, and
 * TALLY_LIMIT, with the number of descriptors needed, if too many files would be open. Unsupported events are not a
 * failure. */
TALLY_MUST_CHECK enum tally_status counter_set_open(const struct kernel_seam *kernel, struct event_list *events,
	const struct target *target, const struct counter_options *options, struct counter_set **set,
	struct tally_error *err);
void counter_set_close(struct counter_set *set);
void counter_set_enable(struct counter_set *set);
void counter_set_disable(struct counter_set *set);
void counter_set_reset(struct counter_set *set);

/* Returns whether the machine has the event, even if this user may not count it. */
static inline bool counter_is_supported(const struct counter *counter)
{
	return counter->refused_errnum == 0;
}
/* Returns the count of the last read; cpu and thread are indexes of counter->cpus and counter->threads. */
static inline struct count counter_count(const struct counter *counter, size_t cpu, size_t thread)
{
	return counter->counts[cpu * counter->thread_count + thread];
}
/* Returns the descriptor for the CPU and thread with these indexes; -1 if it is not open. */
static inline int counter_fd(const struct counter *counter, size_t cpu, size_t thread)
{
	return counter->fds[cpu * counter->thread_count + thread];
}

/* Sets all counts and times of the last read to 0, which readers of counts treat as not counted. */
void counter_set_drop_counts(struct counter_set *set);

#endif

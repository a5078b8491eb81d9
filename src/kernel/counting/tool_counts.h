/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tool_counts.h - fills in the counts of events that the tool itself measures: times from /proc and constants of the
 * machine. Where the kernel allows no events, it counts the software events in the same way (task_usage.h).
 *
 * For a command, times include those of its descendants, and come from /proc while it runs and from wait4(2), which is
 * exact, at its end. For processes and threads, times come from /proc/PID/stat, without children; for CPUs, from
 * /proc/stat. Times of /proc have a resolution of a clock tick (10 ms). A reading stores them in the counters of the
 * set in the same form as the kernel's counts, so readers of counters need not distinguish them. Counts cover the time
 * for which the events were enabled.
 *
 * Belongs to the caller (tool_counts_destroy) and borrows the set. One thread.
 *
 *	tool_counts_create(set, &options, &t, err); tool_counts_enable(t, now); ... tool_counts_read(t, now);
 */
#ifndef KERNEL_COUNTING_TOOL_COUNTS_H
#define KERNEL_COUNTING_TOOL_COUNTS_H

#include <sys/resource.h>

#include "kernel/counting/counter.h"

struct tool_counts_options {
	bool is_command; /* The only thread of the set is a command that has not started yet. */
	bool is_whole_process; /* The threads of the set are whole processes, which may start more threads. */
	/* Also counts the kernel's events, which were not opened (counter_options.opens_nothing). */
	bool replaces_events;
};

struct tool_counts;

/* Returns whether the event can be counted with replaces_events, if /proc has all files. */
bool tool_counts_replace(const struct event_spec *spec);
/* Marks events of the set that cannot be measured on this machine as unsupported, with the reason. */
TALLY_MUST_CHECK enum tally_status tool_counts_create(struct counter_set *set,
	const struct tool_counts_options *options, struct tool_counts **counts, struct tally_error *err);
void tool_counts_destroy(struct tool_counts *t);
void tool_counts_enable(struct tool_counts *t, uint64_t now_ns);
void tool_counts_disable(struct tool_counts *t, uint64_t now_ns);
/* Reads /proc a last time, for a command that has ended but was not waited for yet. */
void tool_counts_look_last(struct tool_counts *t);
/* Sets the final values of a command to those that wait4(2) returned. */
void tool_counts_end(struct tool_counts *t, const struct rusage *usage);
/* Writes the values to the counters of the set. */
void tool_counts_read(struct tool_counts *t, uint64_t now_ns);
/* Returns whether a target may end between two readings, so that its usage is known only up to the last reading. */
bool tool_counts_fades(const struct tool_counts *t);

#endif

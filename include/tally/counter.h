/* SPDX-License-Identifier: Apache-2.0 */
/*
 * counter.h - counts events of threads, processes, CPUs or cgroups, alone or in groups, and scales the values.
 *
 * A counter belongs to the caller (tally_counter_close). It holds one descriptor per event, thread and CPU. It counts
 * from opening to closing unless it is disabled. Every function accepts a NULL counter, which counts 0.
 * An event that the machine cannot count is never replaced silently. Callers name alternatives with '|', and
 * tally_counter_label returns the one that counts.
 *
 *	struct tally_counter *c = tally_counter_open("cache-misses:u|page-faults:u", NULL, NULL);
 *	printf("%llu %s\n", (unsigned long long)tally_counter_value(c), tally_counter_label(c));
 *	tally_counter_close(c);
 *
 * Where the kernel allows it, a counter of the calling thread is read without a system call, by an instruction of the
 * CPU; if that fails, it is read by read(2). Callers need to do nothing for this.
 *
 * Inheritance: with inherit, threads and processes that a measured thread creates after opening are counted too. Their
 * counts are included in those of the parent, whether they still run or have ended. Children that exist at opening are
 * not counted, except other threads with all_threads. An inherited counter is always read by read(2). In a child of
 * fork(2), the only allowed call for a counter without inherit is tally_counter_close.
 *
 * Limits: opening raises the soft limit of open files if the counter needs more descriptors, which matters to programs
 * that use select(2). If the hard limit is too low, opening fails before the first event is opened.
 *
 * Source: perf_event_open(2). Event names are those of `tally stat -e`.
 */
#ifndef TALLY_COUNTER_H
#define TALLY_COUNTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/types.h>
#include <tally/status.h>

#ifdef __cplusplus
extern "C" {
#endif

struct tally_counter;

struct tally_counter_options { /* If all fields are 0, or the options are NULL, the defaults apply. */
	pid_t pid; /* Thread to count; 0 is the calling thread, -1 every process (needs privileges). */
	int one_cpu; /* With is_on_one_cpu: number of the CPU to count on; otherwise it must be 0. */
	bool is_on_one_cpu; /* Counts on one_cpu only, instead of on all CPUs. */
	bool inherit; /* Also counts threads and processes that pid creates after opening. */
	bool starts_disabled; /* Does not count before tally_counter_enable. */
	bool inherit_threads_only; /* Limits inherit to threads; requires inherit. */
	bool all_threads; /* Counts every thread that process pid has now; pid 0 is the calling process. */
	bool enable_on_exec; /* Counting begins when pid calls execve(2); requires starts_disabled. */
	bool remove_on_exec; /* Counting ends when pid calls execve(2). */
	bool is_pinned; /* The events are either always on the PMU or in the error state, and never scaled. */
	bool is_exclusive; /* No other group is on the PMU while this one counts. */
	bool never_user_reads; /* Always reads by read(2). */
	/* Cgroup to count (requires pid -1): a path, or a name below the mount point; NULL for none. */
	const char *cgroup;
	uint64_t reserved[4]; /* Must be 0. */
};

enum tally_count_state {
	TALLY_COUNT_EXACT, /* The event was on the PMU for all of the enabled time, so its value is exact. */
	TALLY_COUNT_SCALED, /* The PMU was shared, so the value is an estimate. */
	TALLY_COUNT_NEVER_RAN, /* The event was enabled but never on the PMU; its value is 0 and means nothing. */
	/* A pinned event found no room on the PMU; it counts nothing until it is enabled again. */
	TALLY_COUNT_IN_ERROR,
};

struct tally_count {
	const char *name; /* Name of the event with its modifiers; valid until the counter is closed. */
	uint64_t value; /* The count, scaled to the time for which the event was enabled. */
	uint64_t raw_value; /* The count before scaling. */
	uint64_t enabled_ns; /* Time for which the event was enabled, summed over threads and CPUs. */
	uint64_t running_ns; /* Part of enabled_ns during which the event was on the PMU. */
	/* For several threads or CPUs: TALLY_COUNT_IN_ERROR if it applies to any of them, TALLY_COUNT_NEVER_RAN if the
	 * event was on the PMU for none of them. */
	enum tally_count_state state;
};

struct tally_counter_part { /* The part of an event's count that one descriptor measured. */
	size_t event; /* Index of the event, from 0. */
	pid_t thread; /* 0 is the calling thread, -1 any thread. */
	int cpu; /* -1 is any CPU. */
	int fd; /* Owned by the counter; for tally/fd.h. -1 if the thread ended before it was opened. */
	struct tally_count count;
};

/* Sets the default options, which also apply if the options are NULL.
 * Threads: any. */
static inline void tally_counter_options_init(struct tally_counter_options *options)
{
	memset(options, 0, sizeof(*options));
}

/* Opens a counter of events such as "cycles", "{branches,branch-misses}:u" or "cs,page-faults". A '|' separates
 * alternatives; the first one that this machine can count completely is used. Returns NULL on failure, and err (which
 * may be NULL) says why the first alternative failed: TALLY_UNSUPPORTED if the machine lacks the event, TALLY_DENIED if
 * a permission is missing, TALLY_NOT_FOUND if there is no such event, thread or cgroup, TALLY_LIMIT if there would be
 * too many descriptors, and TALLY_INVALID if the options contradict each other or an alternative is malformed
 * (err->offset is the column in events; later alternatives are not tried then).
 * Threads: any; a counter of the calling thread counts the thread that calls. */
TALLY_API struct tally_counter *tally_counter_open(
	const char *events, const struct tally_counter_options *options, struct tally_error *err);
/* Closes the counter and its descriptors; NULL is allowed.
 * Threads: one at a time for a counter, and no other call may follow. */
TALLY_API void tally_counter_close(struct tally_counter *counter);

/* Returns the scaled count of the first event, or 0 if it cannot be read. Clocks are in nanoseconds.
 * Threads: one at a time for a counter; the one that opened it reads without system calls. */
TALLY_API uint64_t tally_counter_value(struct tally_counter *counter);
/* Returns the text of the alternative that counts, or "nothing" for a NULL counter; valid until the counter is closed.
 * Threads: any. */
TALLY_API const char *tally_counter_label(const struct tally_counter *counter);
/* Returns a sentence that says why the first alternative does not count, or NULL if it does; valid until the counter is
 * closed.
 * Threads: any. */
TALLY_API const char *tally_counter_fallback_reason(const struct tally_counter *counter);

/* Returns the number of events.
 * Threads: any. */
TALLY_API size_t tally_counter_len(const struct tally_counter *counter);
/* Reads all events; the members of a group are read together, so that they cover the same time. len must be
 * tally_counter_len(counter), otherwise the result is TALLY_INVALID. The state of each count says whether its value is
 * exact.
 * Threads: one at a time for a counter; the one that opened it reads without system calls. */
TALLY_API enum tally_status tally_counter_read(
	struct tally_counter *counter, struct tally_count *counts, size_t len, struct tally_error *err);
/* Returns the number of descriptors: the product of events, threads and CPUs.
 * Threads: any. */
TALLY_API size_t tally_counter_part_count(const struct tally_counter *counter);
/* Reads all events and returns the count of each descriptor, ordered by event, then CPU, then thread. len must be
 * tally_counter_part_count(counter).
 * Threads: one at a time for a counter. */
TALLY_API enum tally_status tally_counter_read_parts(
	struct tally_counter *counter, struct tally_counter_part *parts, size_t len, struct tally_error *err);
/* Returns the descriptor of an event on the first thread and CPU, for tally/fd.h, or -1 if there is none. It remains
 * owned by the counter.
 * Threads: any. */
TALLY_API int tally_counter_fd(const struct tally_counter *counter, size_t event);
/* Returns whether the last read of the event needed no system call; false if there is no such event.
 * Threads: one at a time for a counter. */
TALLY_API bool tally_counter_is_user_read(const struct tally_counter *counter, size_t event);

/* Enables all events, and retries those in the error state.
 * Threads: any. */
TALLY_API void tally_counter_enable(struct tally_counter *counter);
/* Disables all events.
 * Threads: any. */
TALLY_API void tally_counter_disable(struct tally_counter *counter);
/* Sets the counts, but not the times, back to 0. The kernel cannot reset the counts of children that have ended; for an
 * inherited counter, later reads therefore subtract the counts of this moment.
 * Threads: any; one at a time for an inherited counter. */
TALLY_API void tally_counter_reset(struct tally_counter *counter);

#ifdef __cplusplus
}
#endif

#endif

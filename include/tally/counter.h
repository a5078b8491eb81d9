/* SPDX-License-Identifier: Apache-2.0 */
/*
 * counter.h - counts events of threads, processes, CPUs or cgroups: the two-line way, and groups with scaled values.
 *
 * A counter belongs to the caller (tally_counter_close). It holds one descriptor per event, thread and CPU. Counts go on
 * from opening to closing unless disabled. Every function accepts a NULL counter: it counts 0.
 * What the machine cannot count is never replaced in silence: name alternatives yourself with '|', and ask
 * tally_counter_label which one counts.
 *
 *	struct tally_counter *c = tally_counter_open("cache-misses:u|page-faults:u", NULL, NULL);
 *	printf("%llu %s\n", (unsigned long long)tally_counter_value(c), tally_counter_label(c));
 *
 * Where the kernel allows it, a counter of the calling thread is read without a system call, by the CPU's own
 * instruction; otherwise, and whenever that cannot give the value, by read(2). Nothing has to be done for it.
 *
 * What is inherited: with inherit, a thread or process that a measured thread makes after opening counts too, and its
 * counts are part of the parent's when it is read, alive or ended; those that exist at opening do not, but with
 * all_threads. An inherited counter is always read by read(2). A child that was made by fork without inherit may only
 * close its copy of a counter.
 *
 * Limits: the soft limit of open files is raised where the counters need it (programs that use select(2) beware); what
 * does not fit under the hard limit is refused before the first event is opened.
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

struct tally_counter_options { /* all zero: what NULL means */
	pid_t pid; /* 0: the calling thread; -1: every process (needs privileges) */
	int one_cpu; /* with is_on_one_cpu: the number of that CPU */
	bool is_on_one_cpu; /* counts on one_cpu only; otherwise on any CPU, with pid -1 on each that is online */
	bool inherit; /* threads and processes that pid makes from now on count too */
	bool starts_disabled; /* counts only after tally_counter_enable */
	bool inherit_threads_only; /* with inherit: not the processes */
	bool all_threads; /* the threads that process pid has now, a descriptor each; pid 0: the calling process */
	bool enable_on_exec; /* with starts_disabled: begins when pid calls execve(2) */
	bool remove_on_exec; /* ends when pid calls execve(2) */
	bool is_pinned; /* always on the PMU, or in the error state: never scaled */
	bool is_exclusive; /* the only group on the PMU while it counts */
	bool never_user_reads; /* always read(2) */
	const char *cgroup; /* only its processes: a name below the hierarchy's mount point, or a path; with pid -1 */
	uint64_t reserved[4]; /* 0 */
};

enum tally_count_state {
	TALLY_COUNT_EXACT, /* on the PMU all the time it was enabled: value is what was counted */
	TALLY_COUNT_SCALED, /* the PMU was shared: value is an estimate */
	TALLY_COUNT_NEVER_RAN, /* enabled but never on the PMU: nothing is known, value is 0 */
	TALLY_COUNT_IN_ERROR, /* pinned and found no room on the PMU: nothing is known until it is enabled again */
};

struct tally_count {
	const char *name; /* of the event, with modifiers; valid until the counter is closed */
	uint64_t value; /* scaled: what it would be, had the event been on the PMU all the time */
	uint64_t raw_value; /* as counted */
	uint64_t enabled_ns; /* for how long the event has wanted to count, the threads and CPUs together */
	uint64_t running_ns; /* for how long of that it was on the PMU */
	enum tally_count_state state; /* of several threads or CPUs: in error if one is, never ran if none did */
};

struct tally_counter_part { /* one descriptor's share */
	size_t event; /* which event, from 0 */
	pid_t thread; /* 0: the caller; -1: any */
	int cpu; /* -1: any */
	int fd; /* the counter's own, for tally/fd.h; -1: the thread had ended before it was opened */
	struct tally_count count;
};

/* The defaults, which NULL options stand for. Threads: any. */
static inline void tally_counter_options_init(struct tally_counter_options *options)
{
	memset(options, 0, sizeof(*options));
}

/* Opens "cycles", "{branches,branch-misses}:u", "cs,page-faults" ... A '|' separates alternatives: the first of which
 * this machine can count every event is taken. NULL: err (may be NULL) tells why the first alternative failed:
 * TALLY_UNSUPPORTED the machine lacks it, TALLY_DENIED a permission is missing, TALLY_NOT_FOUND no such event, thread or
 * cgroup, TALLY_LIMIT too many descriptors, TALLY_INVALID the options contradict each other, or an alternative that was
 * tried is malformed (err->offset is the column in events): no later one is taken then.
 * Threads: any; a counter of the calling thread counts the one that calls. */
TALLY_API struct tally_counter *tally_counter_open(
	const char *events, const struct tally_counter_options *options, struct tally_error *err);
/* Closes all; NULL is fine.
 * Threads: one at a time for a counter, the last. */
TALLY_API void tally_counter_close(struct tally_counter *counter);

/* The scaled count of the first event now; 0 if it cannot be read. Its unit is that of the event: ns for clocks.
 * Threads: one at a time for a counter; the one that opened it reads without system calls. */
TALLY_API uint64_t tally_counter_value(struct tally_counter *counter);
/* Which alternative counts, as it was written; "nothing" for NULL. Valid until the counter is closed.
 * Threads: any. */
TALLY_API const char *tally_counter_label(const struct tally_counter *counter);
/* NULL if the first alternative counts; else why it does not: one sentence. Valid until the counter is closed.
 * Threads: any. */
TALLY_API const char *tally_counter_fallback_reason(const struct tally_counter *counter);

/* How many events there are.
 * Threads: any. */
TALLY_API size_t tally_counter_len(const struct tally_counter *counter);
/* Reads all events, a group in one go, so that its members cover the same time. counts has room for len entries;
 * fewer or more are TALLY_INVALID. The state of each says whether its value is exact. Threads: one at a time for a
 * counter; the one that opened it reads without system calls. */
TALLY_API enum tally_status tally_counter_read(
	struct tally_counter *counter, struct tally_count *counts, size_t len, struct tally_error *err);
/* How many descriptors there are: events x threads x CPUs.
 * Threads: any. */
TALLY_API size_t tally_counter_part_count(const struct tally_counter *counter);
/* Reads all events and gives each thread's and CPU's share apart, by events, then CPUs, then threads; parts has room for
 * len entries, as many as there are.
 * Threads: one at a time for a counter. */
TALLY_API enum tally_status tally_counter_read_parts(
	struct tally_counter *counter, struct tally_counter_part *parts, size_t len, struct tally_error *err);
/* The descriptor of an event on the first thread and CPU, for tally/fd.h; it stays the counter's. -1 if there is none.
 * Threads: any. */
TALLY_API int tally_counter_fd(const struct tally_counter *counter, size_t event);
/* True if the last read of the event took no system call.
 * Threads: one at a time for a counter. */
TALLY_API bool tally_counter_is_user_read(const struct tally_counter *counter, size_t event);

/* Lets all events count, and tries again those in the error state.
 * Threads: any. */
TALLY_API void tally_counter_enable(struct tally_counter *counter);
/* Stops all events.
 * Threads: any. */
TALLY_API void tally_counter_disable(struct tally_counter *counter);
/* Counts from 0 again; the times go on. An inherited counter leaves its descriptors alone, as the kernel cannot set back
 * what ended children have counted: later reads leave out what has been counted until now.
 * Threads: any; of an inherited counter one at a time. */
TALLY_API void tally_counter_reset(struct tally_counter *counter);

#ifdef __cplusplus
}
#endif

#endif

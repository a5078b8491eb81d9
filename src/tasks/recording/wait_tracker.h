/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wait_tracker.h - derives the waits of threads from single events in time order: a thread left the CPU, was woken, ran
 * again. For sources without BPF, it does the work of bpf/off_cpu.bpf.c.
 *
 * Waits shorter than a threshold are added up by thread, stack, state and waker until wait_tracker_give_sums. Stacks
 * are IDs in the wait_stacks of the config. The caller calls wait_tracker_deinit. Does not depend on rings. Not
 * thread-safe.
 *
 *	wait_tracker_apply(&tracker, &event, &sink, err); ...   wait_tracker_give_sums(&tracker, &sink, err);
 *	wait_tracker_finish(&tracker, now_ns, &sink, err);   wait_tracker_deinit(&tracker);
 */
#ifndef TASKS_RECORDING_WAIT_TRACKER_H
#define TASKS_RECORDING_WAIT_TRACKER_H

#include "base/map_u64.h"
#include "base/vec.h"
#include "bpf/wait_parts.h"

enum wait_event_kind {
	WAIT_EVENT_OUT, /* The thread left the CPU. */
	WAIT_EVENT_STACK, /* Stack, state and system call for the next OUT of this thread, unless it is preempted. */
	WAIT_EVENT_WAKE,
	WAIT_EVENT_OTHERS_WAKE, /* A wake-up by any thread; a WAKE of the same thread has the better stack. */
	WAIT_EVENT_IN,
	WAIT_EVENT_NEW, /* A new thread waits to run for the first time. */
	WAIT_EVENT_LOOK, /* State and system call from the kernel's files. */
	WAIT_EVENT_LOOK_STACK, /* Stack that belongs to the LOOK with the same time. */
	WAIT_EVENT_EXEC, /* The thread continues, even if its ID belonged to a thread that has ended. */
	WAIT_EVENT_EXIT,
	WAIT_EVENT_LOST /* Events of any thread were lost, so the waits in progress are doubtful or unknown. */
};

struct wait_event {
	uint64_t time_ns, stack; /* Stack of the thread, or of its waker. */
	uint32_t pid, tid, cpu; /* pid is 0 if unknown. */
	uint32_t waker_pid, waker_tid;
	int32_t syscall; /* -1 if there is none, or if unknown. */
	uint64_t switches; /* For OUT and LOOK: how often the thread had left the CPU; 0 if unknown. */
	uint8_t kind, state, flags; /* Values of enum wait_event_kind, enum wait_state and enum wait_flags. */
	char waker_comm[WAIT_RECORD_COMM];
};

struct wait_thread {
	uint32_t pid, tid;
	bool is_off, is_woken;
	bool is_doubtful; /* Events were lost, so the thread may have run since. */
	uint64_t switches; /* Value of the event's switches in this wait; 0 if unknown. */
	bool is_looked_at; /* Used by the caller; reset for each wait. */
	struct wait_event stack; /* The last STACK event; time_ns is 0 if there was none since the last OUT. */
	struct wait_event out, wake, look; /* look.time_ns is 0 if there was no LOOK in this wait. */
};

struct wait_tracker_sum {
	struct wait_parts parts;
	char waker_comm[WAIT_RECORD_COMM];
};

struct wait_tracker_config {
	struct wait_stacks *stacks;
	bool wants_preempted; /* Also reports threads that were runnable all the time. */
	uint64_t threshold_ns; /* Waits of at least this length are reported individually. */
	/* Returns whether a thread has not left the CPU again since it had done so `switches` times; its wait then
	 * continues, regardless of lost events. NULL if this cannot be determined. */
	bool (*has_stayed)(void *context, uint32_t tid, uint64_t switches);
	void *context;
};

struct wait_tracker {
	struct wait_tracker_config config;
	/* Maps a thread ID to a pointer to its wait_thread, or to a mark if the thread has ended. */
	struct map_u64 threads;
	struct map_u64 sum_index; /* Maps the hash of a key to an index in sums. */
	VEC(struct wait_tracker_sum) sums;
	uint64_t lost_stacks;
};

void wait_tracker_deinit(struct wait_tracker *tracker);
TALLY_MUST_CHECK enum tally_status wait_tracker_apply(struct wait_tracker *tracker, const struct wait_event *event,
	const struct off_cpu_sink *sink, struct tally_error *err);
TALLY_MUST_CHECK enum tally_status wait_tracker_give_sums(
	struct wait_tracker *tracker, const struct off_cpu_sink *sink, struct tally_error *err);
/* Reports the waits in progress, until now_ns, and all sums. A doubtful wait is reported only if has_stayed confirms
 * it. */
TALLY_MUST_CHECK enum tally_status wait_tracker_finish(
	struct wait_tracker *tracker, uint64_t now_ns, const struct off_cpu_sink *sink, struct tally_error *err);
/* Discards the waits in progress, for which the ends will not be known. */
void wait_tracker_forget(struct wait_tracker *tracker);
/* Returns the threads that are off the CPU, one for each call; *position must start at 0. Returns NULL if there are no
 * more. */
struct wait_thread *wait_tracker_next_off(const struct wait_tracker *tracker, size_t *position);
/* Returns NULL if the thread is unknown. */
struct wait_thread *wait_tracker_find(const struct wait_tracker *tracker, uint32_t tid);

#endif

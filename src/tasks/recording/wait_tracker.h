/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wait_tracker.h - derives the waits of threads from single events in time order: a thread left the CPU, was woken, ran
 * again. It does for sources without BPF what bpf/off_cpu.bpf.c does in the kernel.
 *
 * Waits shorter than a threshold are added up by thread, stack, state and waker until wait_tracker_give_sums. Stacks are
 * IDs in the wait_stacks of the config. The owner calls wait_tracker_deinit. Knows nothing of rings. One thread.
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
	WAIT_EVENT_OUT, /* left the CPU */
	WAIT_EVENT_STACK, /* stack, state and system call of the next OUT of this thread, unless it was preempted */
	WAIT_EVENT_WAKE,
	WAIT_EVENT_OTHERS_WAKE, /* the same, of everybody; a WAKE of the same thread has the better stack */
	WAIT_EVENT_IN,
	WAIT_EVENT_NEW, /* a new thread waits for its first turn */
	WAIT_EVENT_LOOK, /* what the kernel's files said of it: state and system call */
	WAIT_EVENT_LOOK_STACK, /* and its stack then */
	WAIT_EVENT_EXEC, /* goes on, even if it is the ID of a thread that has ended */
	WAIT_EVENT_EXIT,
	WAIT_EVENT_LOST /* of any thread: what is under way is doubtful, or not known any more */
};

struct wait_event {
	uint64_t time_ns, stack; /* of the thread, or of the waker */
	uint32_t pid, tid, cpu; /* pid 0: not known */
	uint32_t waker_pid, waker_tid;
	int32_t syscall; /* -1: none or not known */
	uint64_t switches; /* of an OUT or LOOK: how often the thread had left the CPU; 0: not known */
	uint8_t kind, state, flags; /* enum wait_state, enum wait_flags */
	char waker_comm[WAIT_RECORD_COMM];
};

struct wait_thread {
	uint32_t pid, tid;
	bool is_off, is_woken;
	bool is_doubtful; /* events were lost: it may have run since */
	uint64_t switches; /* in this wait; 0: not known */
	bool is_looked_at; /* the caller's, for each wait */
	struct wait_event stack; /* time_ns 0: none came */
	struct wait_event out, wake, look; /* look.time_ns 0: there was none in this wait */
};

struct wait_tracker_sum {
	struct wait_parts parts;
	char waker_comm[WAIT_RECORD_COMM];
};

struct wait_tracker_config {
	struct wait_stacks *stacks;
	bool wants_preempted; /* threads that could run all the time, too */
	uint64_t threshold_ns; /* waits as long are given one by one */
	/* Whether a thread has not left the CPU since it had done so often: then a wait goes on, whatever events were lost.
	 * NULL: not known. */
	bool (*has_stayed)(void *context, uint32_t tid, uint64_t switches);
	void *context;
};

struct wait_tracker {
	struct wait_tracker_config config;
	struct map_u64 threads; /* by ID: pointers to threads, or an end's mark */
	struct map_u64 sum_index; /* by hash of the key */
	VEC(struct wait_tracker_sum) sums;
	uint64_t lost_stacks;
};

void wait_tracker_deinit(struct wait_tracker *tracker);
TALLY_MUST_CHECK enum tally_status wait_tracker_apply(struct wait_tracker *tracker, const struct wait_event *event,
	const struct off_cpu_sink *sink, struct tally_error *err);
TALLY_MUST_CHECK enum tally_status wait_tracker_give_sums(
	struct wait_tracker *tracker, const struct off_cpu_sink *sink, struct tally_error *err);
/* Gives the waits that last, until now_ns, as far as has_stayed vouches for doubtful ones, and all sums. */
TALLY_MUST_CHECK enum tally_status wait_tracker_finish(
	struct wait_tracker *tracker, uint64_t now_ns, const struct off_cpu_sink *sink, struct tally_error *err);
/* What is under way is not known any more. */
void wait_tracker_forget(struct wait_tracker *tracker);
/* Each thread that is off the CPU, one by one; *position starts at 0. NULL: that was all. */
struct wait_thread *wait_tracker_next_off(const struct wait_tracker *tracker, size_t *position);
/* NULL: not known. */
struct wait_thread *wait_tracker_find(const struct wait_tracker *tracker, uint32_t tid);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * switch_events.h - converts the records of switch_waits.h's rings (samples of sched_switch, sched_waking and
 * context-switches, context-switch and task records) to events for wait_tracker.h.
 *
 * The events are not sorted, because samples that are unwound may arrive later than other records. The caller fills in
 * the description of the records, and calls switch_events_deinit. Not thread-safe. Records that lack fields are
 * ignored.
 *
 *	switch_events_take(&records, slices, slice_count, err);	// the take function of a record_sink
 *	... records.events ...
 */
#ifndef TASKS_RECORDING_SWITCH_EVENTS_H
#define TASKS_RECORDING_SWITCH_EVENTS_H

#include "bpf/wait_calls.h"
#include "kernel/recording/recorder.h"
#include "kernel/recording/ring_reader.h"
#include "tasks/recording/wait_tracker.h"

/* Kinds of events with samples: switches (sched_switch or context-switches), wake-ups by threads of the target
 * (sched_waking), events with samples that are ignored, and wake-ups by any thread. */
enum switch_events_id { SWITCH_EVENTS_SWITCH, SWITCH_EVENTS_WAKE, SWITCH_EVENTS_OTHER, SWITCH_EVENTS_OTHERS_WAKE };

/* Place of a field in a tracepoint's payload. */
struct switch_events_field {
	uint32_t offset, size;
};

struct switch_events_name {
	char comm[WAIT_RECORD_COMM];
};

struct switch_events {
	const struct kernel_seam *kernel;
	const struct arch *arch;
	struct wait_stacks *stacks; /* Receives the stacks. */
	enum wait_source source;
	struct record_layout layout; /* Layout of all records except those of wait_looks.h. */
	struct map_u64 ids; /* Maps an event's ID to an enum switch_events_id. */
	struct switch_events_field prev_state, woken, common_flags, common_pid;
	/* This process is in a PID namespace, but the payloads of tracepoints contain the PIDs of the initial one. */
	bool has_other_numbers;
	/* Maps the thread ID in payloads to the one in records, for threads that have waited. */
	struct map_u64 numbers;
	const int *cpus; /* Only waits that begin on these CPUs are recorded; NULL for all CPUs. */
	size_t cpu_count;
	/* User chains contain return addresses; otherwise they contain addresses inside the call instructions. */
	bool has_return_addresses;
	bool is_forking; /* New threads are recorded, too. */
	struct wait_calls calls;
	/* comms maps a thread ID to an index in names, and kinds maps it to whether the thread is a kernel thread. */
	struct map_u64 comms, kinds;
	struct map_u64 threads; /* Set of the recorded threads that have waited. */
	VEC(struct switch_events_name) names;
	VEC(struct wait_event) events;
	uint64_t lost;
	uint64_t joined[RING_RECORD_BYTES_MAX / sizeof(uint64_t)]; /* Copy of a record that lies in two slices. */
};

/* Reads the places of the tracepoints' fields from tracefs. */
TALLY_MUST_CHECK enum tally_status switch_events_read_formats(
	struct switch_events *records, const struct kernel_seam *kernel, struct tally_error *err);
TALLY_MUST_CHECK enum tally_status switch_events_take(
	void *records, const struct tally_bytes *slices, size_t slice_count, struct tally_error *err);
void switch_events_deinit(struct switch_events *records);

#endif

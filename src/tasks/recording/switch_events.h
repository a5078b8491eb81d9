/* SPDX-License-Identifier: Apache-2.0 */
/*
 * switch_events.h - turns the records of switch_waits.h's rings (samples of sched_switch, sched_waking and
 * context-switches, context-switch and task records) into events for wait_tracker.h.
 *
 * The events are collected in no order, because samples that are unwound may come later than other records. The owner
 * fills in what records look like, and calls switch_events_deinit. One thread. Bad input: a record whose fields are
 * missing is left out.
 *
 *	switch_events_take(&records, slices, slice_count, err);	// a record_sink's take
 *	... records.events ...
 */
#ifndef TASKS_RECORDING_SWITCH_EVENTS_H
#define TASKS_RECORDING_SWITCH_EVENTS_H

#include "bpf/wait_calls.h"
#include "kernel/recording/recorder.h"
#include "kernel/recording/ring_reader.h"
#include "tasks/recording/wait_tracker.h"

/* What an ID of an event stands for. */
enum switch_events_id { SWITCH_EVENTS_SWITCH, SWITCH_EVENTS_WAKE, SWITCH_EVENTS_OTHER, SWITCH_EVENTS_OTHERS_WAKE };

struct switch_events_field { /* of a tracepoint's payload */
	uint32_t offset, size;
};

struct switch_events_name {
	char comm[WAIT_RECORD_COMM];
};

struct switch_events {
	const struct kernel_seam *kernel;
	const struct arch *arch;
	struct wait_stacks *stacks; /* get the stacks */
	enum wait_source source;
	struct record_layout layout; /* of all records but those of wait_looks.h */
	struct map_u64 ids; /* to enum switch_events_id */
	struct switch_events_field prev_state, woken, common_flags, common_pid;
	bool has_other_numbers; /* payloads have those of the first PID namespace, and records others */
	struct map_u64 numbers; /* of threads that have waited: the record's by the payload's */
	const int *cpus; /* only waits that begin there; NULL: anywhere */
	size_t cpu_count;
	bool has_return_addresses; /* in user chains; else addresses in calls */
	bool is_forking; /* new threads are followed */
	struct wait_calls calls;
	struct map_u64 comms, kinds; /* by thread: index in names; a kernel's thread or not */
	struct map_u64 threads; /* that are recorded, and have waited */
	VEC(struct switch_events_name) names;
	VEC(struct wait_event) events;
	uint64_t lost;
	uint64_t joined[RING_RECORD_BYTES_MAX / sizeof(uint64_t)]; /* a copy of a record that lies in two slices */
};

/* Where the fields of the tracepoints are, from tracefs. */
TALLY_MUST_CHECK enum tally_status switch_events_read_formats(
	struct switch_events *records, const struct kernel_seam *kernel, struct tally_error *err);
TALLY_MUST_CHECK enum tally_status switch_events_take(
	void *records, const struct tally_bytes *slices, size_t slice_count, struct tally_error *err);
void switch_events_deinit(struct switch_events *records);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record_waits.h - implements record --off-cpu and --wall: it records the time in which threads wait, as samples of the
 * event offcpu-time.
 *
 * One of the recording's events carries waits (record_waits_event); record_wait_source.h measures them, and this module
 * converts them to records, which go to the same file as those of the rings. The session owns it, and borrows what the
 * config points to. As the rounds of the file require, samples are not older than the drain before the last one. Not
 * thread-safe.
 *
 *	record_waits_create(&config, &waits, err);    // when events are open, so that a refusal precedes the file
 *	record_waits_start(waits, recorder, false, err); // before events are enabled
 *	record_waits_drain(waits, &sink, false, err); // before the rings are drained
 */
#ifndef TASKS_RECORDING_RECORD_WAITS_H
#define TASKS_RECORDING_RECORD_WAITS_H

#include "bpf/off_cpu.h"
#include "kernel/events/event_spec.h"
#include "kernel/recording/recorder.h"
#include "kernel/system/target.h"
#include "tasks/recording/record_request.h"

/* Name from which the event parser makes the event. */
#define RECORD_WAITS_EVENT "bpf-output/name=" WAIT_EVENT_NAME "/"

struct bpf_object;

struct record_waits_config {
	const struct kernel_seam *kernel;
	struct record_wait_options options;
	/* The events as they are opened; the source of waits is stored in the one that carries them. */
	struct event_list *events;
	const struct recorder_config *recorder; /* Configuration of the recording. */
	const struct record_attr_options *attrs;
	const struct target *target;
	struct binary_store_options store; /* Options for the files to which stacks lead. */
	struct diag *diag;
	/* BPF programs with unwind tables that are shared as long as these waits exist; NULL for separate tables. */
	struct bpf_object *walks;
	struct python_frames *walks_python; /* Python frames of walks; may be NULL. */
	struct python_map python; /* Used if walks is NULL. */
	bool is_cpu_list; /* -C: only waits that began on these CPUs are recorded. */
	bool is_process_list; /* -p: also records threads that are created while the threads are listed. */
	bool no_inherit, no_kernel_stacks, no_user_stacks;
};

struct record_waits;
/* Returns the index of the event that carries waits, or the number of events if there is none. */
size_t record_waits_event(const struct event_list *events);
TALLY_MUST_CHECK enum tally_status record_waits_create(
	const struct record_waits_config *config, struct record_waits **waits, struct tally_error *err);
void record_waits_destroy(struct record_waits *waits);
/* Does the preparations that take time; recorder contains the event that carries waits. Waits count from
 * record_waits_begin on, or with starts_disabled from record_waits_set_running on. */
TALLY_MUST_CHECK enum tally_status record_waits_start(
	struct record_waits *waits, const struct recorder *recorder, bool starts_disabled, struct tally_error *err);
/* Must be called right after the recorder was enabled, so that samples and waits begin together. Waits in progress
 * count from now on. */
TALLY_MUST_CHECK enum tally_status record_waits_begin(struct record_waits *waits, struct tally_error *err);
/* Must be called right before the recorder is disabled: nothing counts from now on. The last drain follows. */
TALLY_MUST_CHECK enum tally_status record_waits_end(struct record_waits *waits, struct tally_error *err);
/* Returns the maximum time in milliseconds between two drains. */
int record_waits_pause_ms(const struct record_waits *waits);
TALLY_MUST_CHECK enum tally_status record_waits_set_running(
	struct record_waits *waits, bool is_running, struct tally_error *err);
/* Reads the waits that have ended. is_last is set if nothing follows. */
TALLY_MUST_CHECK enum tally_status record_waits_drain(
	struct record_waits *waits, const struct record_sink *sink, bool is_last, struct tally_error *err);
/* Makes the next drain report all time until then: also waits that are only added up, and the elapsed part of long
 * waits that continue (off_cpu_give_lasting). */
void record_waits_want_sums(struct record_waits *waits);
/* Returns the Python frames of the stacks, or NULL if they are not recorded. */
struct python_frames *record_waits_python(const struct record_waits *waits);
/* Returns how many parts of waits, each of a single state, were measured so far. The cost of measuring depends on
 * it. */
uint64_t record_waits_parts(const struct record_waits *waits);
struct off_cpu_losses record_waits_losses(const struct record_waits *waits);
/* Prints the losses of waits, one sentence per line; nothing if there are none. */
void record_waits_print_losses(struct text *out, const struct off_cpu_losses *losses);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record_waits.h - implements record --off-cpu and --wall: it records the time in which threads wait, as samples of the
 * event offcpu-time.
 *
 * One of the recording's events carries them (record_waits_event); record_wait_source.h measures them, and
 * here they become records, which go to the same file as those of the rings. The session owns it, and borrows what the
 * config points to. Samples are not older than the second last drain, as the rounds of the file require. One thread.
 *
 *	record_waits_create(&config, &waits, err);    // when events are open: a refusal comes before the file
 *	record_waits_start(waits, err);               // before events are enabled
 *	record_waits_drain(waits, &sink, false, err); // before the rings are emptied
 */
#ifndef TASKS_RECORDING_RECORD_WAITS_H
#define TASKS_RECORDING_RECORD_WAITS_H

#include "bpf/off_cpu.h"
#include "kernel/events/event_spec.h"
#include "kernel/recording/recorder.h"
#include "kernel/system/target.h"
#include "tasks/recording/record_request.h"

/* The text from which the event parser makes the event. */
#define RECORD_WAITS_EVENT "bpf-output/name=" WAIT_EVENT_NAME "/"

struct bpf_object;

struct record_waits_config {
	const struct kernel_seam *kernel;
	struct record_wait_options options;
	struct event_list *events; /* as they are opened; the one of waits gets its source */
	const struct recorder_config *recorder; /* of the recording */
	const struct record_attr_options *attrs;
	const struct target *target;
	struct binary_store_options store; /* of the files that stacks lead to */
	struct diag *diag;
	struct bpf_object *walks; /* whose unwind tables are shared as long as these waits exist; NULL: own tables */
	struct python_frames *walks_python; /* of these; may be NULL */
	struct python_map python; /* for own ones */
	bool is_cpu_list; /* -C: only waits that began there */
	bool is_process_list; /* -p: also threads that come while they are listed */
	bool no_inherit, no_kernel_stacks, no_user_stacks;
};

struct record_waits;
/* Index of the event that carries waits, or the number of events. */
size_t record_waits_event(const struct event_list *events);
TALLY_MUST_CHECK enum tally_status record_waits_create(
	const struct record_waits_config *config, struct record_waits **waits, struct tally_error *err);
void record_waits_destroy(struct record_waits *waits);
/* Prepares what takes time. Waits count from record_waits_begin on, or with starts_disabled from record_waits_set_running on.
 * The recorder has the event that carries waits. */
TALLY_MUST_CHECK enum tally_status record_waits_start(
	struct record_waits *waits, const struct recorder *recorder, bool starts_disabled, struct tally_error *err);
/* Right after the recorder was enabled, so that samples and waits begin together; waits in progress count from now. */
TALLY_MUST_CHECK enum tally_status record_waits_begin(struct record_waits *waits, struct tally_error *err);
/* Right before the recorder is disabled: nothing counts from now on. The last drain follows. */
TALLY_MUST_CHECK enum tally_status record_waits_end(struct record_waits *waits, struct tally_error *err);
/* How long the recorder may sleep; -1: as long as it likes. */
int record_waits_pause_ms(const struct record_waits *waits);
TALLY_MUST_CHECK enum tally_status record_waits_set_running(
	struct record_waits *waits, bool is_running, struct tally_error *err);
/* Reads the waits that have ended. is_last: nothing comes after it. */
TALLY_MUST_CHECK enum tally_status record_waits_drain(
	struct record_waits *waits, const struct record_sink *sink, bool is_last, struct tally_error *err);
/* The next drain has all of the time until then: also waits that are only added up, and the part so far of long waits
 * that go on (off_cpu_give_lasting). */
void record_waits_want_sums(struct record_waits *waits);
/* Of their stacks; NULL: Python frames are not looked for. */
struct python_frames *record_waits_python(const struct record_waits *waits);
/* How many parts of waits, each of one state, were measured so far: of what the measuring cost. */
uint64_t record_waits_parts(const struct record_waits *waits);
struct off_cpu_losses record_waits_losses(const struct record_waits *waits);
/* Prints the losses of waits, one sentence a line; nothing if there are none. */
void record_waits_print_losses(struct text *out, const struct off_cpu_losses *losses);

#endif

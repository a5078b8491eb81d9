/* SPDX-License-Identifier: Apache-2.0 */
/*
 * switch_waits.h - measures the waits of threads without BPF, from context switches that the kernel records: by the
 * tracepoints sched_switch and sched_waking, or by context-switch records, which an ordinary user gets of own processes.
 *
 * It has events and rings of its own, beside those of the recording, so that nothing of them is in the file. Stacks are
 * call chains of the kernel, or stack dumps that are unwound as they come. What events do not tell, /proc is asked for
 * while a thread waits (wait_looks.h). The caller owns it, and what the config points to. Times are of CLOCK_MONOTONIC.
 * One thread.
 *
 *	switch_waits_create(&config, &waits, err);   switch_waits_start(waits, err);
 *	switch_waits_begin(waits, err);
 *	... switch_waits_drain(waits, false, &sink, err) at least each SWITCH_WAITS_PAUSE_MS ...
 *	switch_waits_finish(waits, &sink, err);      switch_waits_destroy(waits);
 */
#ifndef TASKS_RECORDING_SWITCH_WAITS_H
#define TASKS_RECORDING_SWITCH_WAITS_H

#include "abi/wait_record.h"
#include "bpf/off_cpu.h"
#include "kernel/recording/record_attrs.h"
#include "kernel/recording/recorder.h"
#include "kernel/system/target.h"

#define SWITCH_WAITS_PAUSE_MS 20

struct switch_waits_config {
	const struct kernel_seam *kernel;
	enum wait_source source; /* WAIT_SOURCE_TRACEPOINTS or WAIT_SOURCE_SWITCHES */
	const struct recorder_config *recorder; /* of the recording: its target */
	const struct record_attr_options *attrs; /* likewise */
	const struct target *target;
	struct binary_store_options store; /* of the files that stacks lead to */
	bool wants_preempted, no_kernel_stacks, no_user_stacks;
	bool no_inherit;
	uint64_t threshold_ns;
};

struct switch_waits;
TALLY_MUST_CHECK enum tally_status switch_waits_create(
	const struct switch_waits_config *config, struct switch_waits **waits, struct tally_error *err);
void switch_waits_destroy(struct switch_waits *waits);
/* Learns what runs already, which takes time; begin: waits count from now on. Where others decide when they do, it is
 * switch_waits_set_running instead. */
TALLY_MUST_CHECK enum tally_status switch_waits_start(struct switch_waits *waits, struct tally_error *err);
TALLY_MUST_CHECK enum tally_status switch_waits_begin(struct switch_waits *waits, struct tally_error *err);
/* As off_cpu.h has these. */
TALLY_MUST_CHECK enum tally_status switch_waits_add_thread(struct switch_waits *waits, uint32_t tid, uint32_t pid,
	const struct off_cpu_before *before, struct tally_error *err);
TALLY_MUST_CHECK enum tally_status switch_waits_set_running(
	struct switch_waits *waits, bool is_running, struct tally_error *err);
TALLY_MUST_CHECK enum tally_status switch_waits_drain(
	struct switch_waits *waits, bool takes_sums, const struct off_cpu_sink *sink, struct tally_error *err);
TALLY_MUST_CHECK enum tally_status switch_waits_finish(
	struct switch_waits *waits, const struct off_cpu_sink *sink, struct tally_error *err);
struct off_cpu_losses switch_waits_losses(const struct switch_waits *waits);
/* Whether the kernel gives the stacks of threads that wait; else they are read from their memory while they wait. */
bool switch_waits_has_stacks(const struct switch_waits *waits);

#endif

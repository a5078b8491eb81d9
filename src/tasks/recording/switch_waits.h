/* SPDX-License-Identifier: Apache-2.0 */
/*
 * switch_waits.h - measures the waits of threads without BPF, from context switches that the kernel records: by the
 * tracepoints sched_switch and sched_waking, or by context-switch records, which the kernel also provides to an
 * ordinary user, for the user's own processes.
 *
 * It has its own events and rings, separate from those of the recording, so that they do not appear in the file. Stacks
 * are call chains from the kernel, or stack dumps that are unwound as they arrive. What events do not contain is read
 * from /proc while a thread waits (wait_looks.h). The caller owns it, and what the config points to. Times are of
 * CLOCK_MONOTONIC. Not thread-safe.
 *
 *	switch_waits_create(&config, &waits, err);   switch_waits_start(waits, err);
 *	switch_waits_begin(waits, err);
 *	... switch_waits_drain(waits, false, &sink, err) at least every SWITCH_WAITS_PAUSE_MS ...
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
	enum wait_source source; /* WAIT_SOURCE_TRACEPOINTS or WAIT_SOURCE_SWITCHES. */
	const struct recorder_config *recorder; /* Configuration of the recording, for its target. */
	const struct record_attr_options *attrs; /* Attributes of the recording. */
	const struct target *target;
	struct binary_store_options store; /* Options for the files to which stacks lead. */
	bool wants_preempted, no_kernel_stacks, no_user_stacks;
	bool no_inherit;
	uint64_t threshold_ns;
};

struct switch_waits;
TALLY_MUST_CHECK enum tally_status switch_waits_create(
	const struct switch_waits_config *config, struct switch_waits **waits, struct tally_error *err);
void switch_waits_destroy(struct switch_waits *waits);
/* Reads the mappings of running processes, which takes time. */
TALLY_MUST_CHECK enum tally_status switch_waits_start(struct switch_waits *waits, struct tally_error *err);
/* Starts to count waits. If the recording starts disabled, switch_waits_set_running is called instead. */
TALLY_MUST_CHECK enum tally_status switch_waits_begin(struct switch_waits *waits, struct tally_error *err);
/* The functions from this one to switch_waits_losses work like those of off_cpu.h with the corresponding names. */
TALLY_MUST_CHECK enum tally_status switch_waits_add_thread(struct switch_waits *waits, uint32_t tid, uint32_t pid,
	const struct off_cpu_before *before, struct tally_error *err);
TALLY_MUST_CHECK enum tally_status switch_waits_set_running(
	struct switch_waits *waits, bool is_running, struct tally_error *err);
TALLY_MUST_CHECK enum tally_status switch_waits_drain(
	struct switch_waits *waits, bool takes_sums, const struct off_cpu_sink *sink, struct tally_error *err);
TALLY_MUST_CHECK enum tally_status switch_waits_finish(
	struct switch_waits *waits, const struct off_cpu_sink *sink, struct tally_error *err);
struct off_cpu_losses switch_waits_losses(const struct switch_waits *waits);
/* Returns whether the kernel provides the stacks of waiting threads; otherwise they are read from the threads'
 * memory. */
bool switch_waits_has_stacks(const struct switch_waits *waits);

#endif

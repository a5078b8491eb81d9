/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record_wait_source.h - chooses the source that measures waits (--wall-source), and drives it: the BPF program of
 * bpf/off_cpu.h, or without BPF the context switches of switch_waits.h.
 *
 * A value that record_wait_source_close frees. auto selects the best source that this process may use, and adds a note
 * to diag about the source and why no better one is used. Not thread-safe.
 *
 *	record_wait_source_open(&config, &source, err);   record_wait_source_start(&source, pids, count, err);
 *	record_wait_source_begin(&source, err);
 *	record_wait_source_drain(&source, takes_sums, is_last, &sink, err);   record_wait_source_close(&source);
 */
#ifndef TASKS_RECORDING_RECORD_WAIT_SOURCE_H
#define TASKS_RECORDING_RECORD_WAIT_SOURCE_H

#include "base/diag.h"
#include "tasks/recording/switch_waits.h"

struct record_wait_source_config {
	enum wait_source wanted; /* WAIT_SOURCE_UNKNOWN for auto. */
	struct off_cpu_config bpf;
	struct switch_waits_config switches;
	struct diag *diag;
};

struct record_wait_source {
	enum wait_source kind;
	struct off_cpu *off_cpu; /* Exactly one of off_cpu and switches is not NULL. */
	struct switch_waits *switches;
};

/* Returns LIMIT if the rings for context switches cannot be locked in memory in addition to others. */
TALLY_MUST_CHECK enum tally_status record_wait_source_open(
	const struct record_wait_source_config *config, struct record_wait_source *source, struct tally_error *err);
void record_wait_source_close(struct record_wait_source *source);
/* Prepares the measurement. The unwind tables of the programs of pids are read first. */
TALLY_MUST_CHECK enum tally_status record_wait_source_start(
	struct record_wait_source *source, const pid_t *pids, size_t pid_count, struct tally_error *err);
/* Starts to count waits. */
TALLY_MUST_CHECK enum tally_status record_wait_source_begin(struct record_wait_source *source, struct tally_error *err);
/* Adds a thread to be measured. before describes the wait in which the thread already is; NULL if it is running. */
TALLY_MUST_CHECK enum tally_status record_wait_source_add_thread(struct record_wait_source *source, uint32_t tid,
	uint32_t pid, const struct off_cpu_before *before, struct tally_error *err);
/* Pauses or continues the measurement. */
TALLY_MUST_CHECK enum tally_status record_wait_source_set_running(
	struct record_wait_source *source, bool is_running, struct tally_error *err);
TALLY_MUST_CHECK enum tally_status record_wait_source_drain(struct record_wait_source *source, bool takes_sums,
	bool is_last, const struct off_cpu_sink *sink, struct tally_error *err);
/* Reports the elapsed part of long waits that continue (off_cpu_give_lasting). Does nothing if the source is context
 * switches, which report each wait as a whole when it ends. */
TALLY_MUST_CHECK enum tally_status record_wait_source_give_lasting(
	struct record_wait_source *source, const struct off_cpu_sink *sink, struct tally_error *err);
struct off_cpu_losses record_wait_source_losses(const struct record_wait_source *source);

#endif

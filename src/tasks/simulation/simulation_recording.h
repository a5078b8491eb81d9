/* SPDX-License-Identifier: Apache-2.0 */
/*
 * simulation_recording.h - writes the streams of a simulation as a recording: a perf.data file, or a stream, in which
 * the samples are marked as simulated.
 *
 * It is opened before the simulation runs, so that an output that cannot be written is detected early, and written
 * afterwards. As in record --call-graph dwarf, call chains are made from the registers and the stack dump of each
 * sample (live_unwind.h), from the files of the programs as they are now. The innermost frame is where the event
 * happened; its callers follow from the registers. Not thread-safe.
 *
 *	simulation_recording_open(&request, &recording, err);   // then run
 *	simulation_recording_write(recording, folder, &summary, err);
 *	simulation_recording_destroy(recording);	// removes a file that was not written
 */
#ifndef TASKS_SIMULATION_SIMULATION_RECORDING_H
#define TASKS_SIMULATION_SIMULATION_RECORDING_H

#include "code/binary_store.h"
#include "kernel/system/kernel_seam.h"
#include "tasks/recording/record_live.h"
#include "tasks/simulation/simulation_sampling.h"
#include "tasks/simulation/simulation_streams.h"

struct simulation_recording;

/* Strings are borrowed from the caller. */
struct simulation_recording_request {
	const struct kernel_seam *kernel;
	const char *path; /* Path of a file, or of a stream (stream_output.h). */
	int compression_level; /* 0 for no compression. */
	bool has_chains;
	bool keeps_stacks; /* Keeps the stack dumps instead of making call chains. */
	bool no_build_ids, all_build_ids, no_build_id_cache;
	bool wants_times; /* Determines the times of the first and the last sample even if build IDs are not read. */
	struct binary_store_options store; /* Options for the files to which stacks lead. */
	char *const *argv; /* The whole command line. */
	struct diag *diag;
};

struct simulation_recording_summary {
	uint64_t bytes;
	struct simulation_stream_totals streams;
	struct record_live_summary live; /* Summary of the call chains. */
};

TALLY_MUST_CHECK enum tally_status simulation_recording_open(const struct simulation_recording_request *request,
	struct simulation_recording **recording, struct tally_error *err);
/* A failure does not remove what was written before. */
TALLY_MUST_CHECK enum tally_status simulation_recording_write(struct simulation_recording *recording,
	const char *folder, struct simulation_recording_summary *summary, struct tally_error *err);
void simulation_recording_destroy(struct simulation_recording *recording);

#endif

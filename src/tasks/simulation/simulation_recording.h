/* SPDX-License-Identifier: Apache-2.0 */
/*
 * simulation_recording.h - writes the streams of a simulation as a recording: a perf.data file, or a stream, that says
 * that its samples are simulated.
 *
 * It is opened before the simulation runs, so that an output that cannot be written stops everything early, and written
 * afterwards. Call chains are made of the registers and the stack dump of each sample, as record --call-graph dwarf makes
 * them (live_unwind.h), while the files of the programs are read as they are now. The innermost frame is where the event
 * happened; its callers are those of the registers. One thread.
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

struct simulation_recording_request { /* strings are the caller's */
	const struct kernel_seam *kernel;
	const char *path; /* of the file, or of a stream (stream_output.h) */
	int compression_level; /* 0: none */
	bool has_chains;
	bool keeps_stacks; /* the dumps, instead of chains */
	bool no_build_ids, all_build_ids, no_build_id_cache;
	bool wants_times; /* of the first and the last sample, even without build IDs */
	struct binary_store_options store; /* of the files that stacks lead to */
	char *const *argv; /* the whole command line */
	struct diag *diag;
};

struct simulation_recording_summary {
	uint64_t bytes;
	struct simulation_stream_totals streams;
	struct record_live_summary live; /* of the call chains */
};

TALLY_MUST_CHECK enum tally_status simulation_recording_open(const struct simulation_recording_request *request,
	struct simulation_recording **recording, struct tally_error *err);
/* A failure in the middle leaves what was written until then. */
TALLY_MUST_CHECK enum tally_status simulation_recording_write(struct simulation_recording *recording,
	const char *folder, struct simulation_recording_summary *summary, struct tally_error *err);
void simulation_recording_destroy(struct simulation_recording *recording);

#endif

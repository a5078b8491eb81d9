/* SPDX-License-Identifier: Apache-2.0 */
/*
 * simulation_streams.h - reads the files of one simulation (simulator/stream.h) as one sequence of records in simulated
 * time.
 *
 * Each file is one process image, in which times start at 0. The first file of a child process starts at the time of
 * its FORK record in the parent's file, and an image after an exec starts when the image before it ended. Records are
 * returned in time order, a parent's before its child's, with times and identifiers that are valid for all files: they
 * can be copied into a recording. Counts and losses are not returned but added up. The streams own all files until
 * destroy. Not thread-safe.
 *
 *	simulation_streams_open(directory, &diag, &streams, err);
 *	while ((status = simulation_streams_next(streams, &record, err)) == TALLY_OK) ...   // TALLY_END: no more
 *	simulation_streams_destroy(streams);
 *
 * A damaged file is read up to the first record that has no valid size; a note in diag has its offset. Records with
 * invalid contents are ignored and counted. A file without a valid header is ignored, with a warning.
 */
#ifndef TASKS_SIMULATION_SIMULATION_STREAMS_H
#define TASKS_SIMULATION_SIMULATION_STREAMS_H

#include "abi/attr.h"
#include "abi/record.h"
#include "base/diag.h"
#include "simulator/stream.h"

struct simulation_streams;

/* Totals of what was read so far. */
struct simulation_stream_totals {
	uint64_t images; /* Number of files. */
	uint64_t samples; /* Number of samples that were returned. */
	uint64_t lost_records, lost_samples; /* Records and samples that the simulator could not write. */
	uint64_t damaged; /* Number of records that were ignored. */
	uint64_t cut; /* Number of files that were not read to their end. */
};

/* Opens all files of a directory. Returns NOT_FOUND if none has a valid header. */
TALLY_MUST_CHECK enum tally_status simulation_streams_open(
	const char *directory, struct diag *diag, struct simulation_streams **streams, struct tally_error *err);
/* For files in memory, in tests: create, add, place, next. name is for messages. The bytes are borrowed. */
TALLY_MUST_CHECK enum tally_status simulation_streams_create(
	struct simulation_streams **streams, struct tally_error *err);
TALLY_MUST_CHECK enum tally_status simulation_streams_add(struct simulation_streams *streams, const char *name,
	struct tally_bytes bytes, struct diag *diag, struct tally_error *err);
TALLY_MUST_CHECK enum tally_status simulation_streams_place(
	struct simulation_streams *streams, struct tally_error *err);
void simulation_streams_destroy(struct simulation_streams *streams);

/* Returns the header of the first process; all files have the same sampled events. Borrowed from the streams. */
const struct sim_header *simulation_streams_header(const struct simulation_streams *streams);
/* Returns the model of the first process. */
const char *simulation_streams_model(const struct simulation_streams *streams);
/* Returns an attribute with the format of the simulator's samples: sample_type, registers and stack bytes, which are
 * the same for all events. */
struct perf_attr simulation_streams_attr(const struct simulation_streams *streams);

/* Returns the next record, which is valid until the next call. */
TALLY_MUST_CHECK enum tally_status simulation_streams_next(
	struct simulation_streams *streams, struct record *record, struct tally_error *err);
struct simulation_stream_totals simulation_streams_totals(const struct simulation_streams *streams);
/* Returns the total size of all files. */
uint64_t simulation_streams_bytes(const struct simulation_streams *streams);

#endif

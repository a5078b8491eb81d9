/* SPDX-License-Identifier: Apache-2.0 */
/*
 * simulation_streams.h - reads the files of one simulation (simulator/stream.h) as one run of records in simulated time.
 *
 * Each file is one process image, whose times begin at 0. The first file of a child process begins at the time of its
 * FORK record in the parent's file, and an image that a process executed begins where the image before it ended. Records
 * come out in order of time, a parent's before its child's; their times and identifiers are those of the whole: bytes
 * that can go into a recording, apart from counts and losses, which are summed up. The streams own all files until
 * destroy. One thread.
 *
 *	simulation_streams_open(directory, &diag, &streams, err);
 *	while ((status = simulation_streams_next(streams, &record, err)) == TALLY_OK) ...   // TALLY_END: no more
 *	simulation_streams_destroy(streams);
 *
 * Bad input: a file is read up to the first record that cannot be followed; a note in diag says where that is. Records
 * whose contents are wrong are left out and counted. A file without a valid header is left out, with a warning.
 */
#ifndef TASKS_SIMULATION_SIMULATION_STREAMS_H
#define TASKS_SIMULATION_SIMULATION_STREAMS_H

#include "abi/attr.h"
#include "abi/record.h"
#include "base/diag.h"
#include "simulator/stream.h"

struct simulation_streams;

struct simulation_stream_totals { /* of what was read so far */
	uint64_t images; /* files */
	uint64_t samples; /* that came out */
	uint64_t lost_records, lost_samples; /* that the simulator could not write */
	uint64_t damaged; /* records that were left out */
	uint64_t cut; /* files that were not read to their end */
};

/* All files of a directory. NOT_FOUND: none has a valid header. */
TALLY_MUST_CHECK enum tally_status simulation_streams_open(
	const char *directory, struct diag *diag, struct simulation_streams **streams, struct tally_error *err);
/* Of files in memory, for tests: create, add, place, next. name is for messages. The bytes stay the caller's. */
TALLY_MUST_CHECK enum tally_status simulation_streams_create(
	struct simulation_streams **streams, struct tally_error *err);
TALLY_MUST_CHECK enum tally_status simulation_streams_add(struct simulation_streams *streams, const char *name,
	struct tally_bytes bytes, struct diag *diag, struct tally_error *err);
TALLY_MUST_CHECK enum tally_status simulation_streams_place(
	struct simulation_streams *streams, struct tally_error *err);
void simulation_streams_destroy(struct simulation_streams *streams);

/* The header of the first process; all files have the same sampled events. Borrowed. */
const struct sim_header *simulation_streams_header(const struct simulation_streams *streams);
/* Its model. */
const char *simulation_streams_model(const struct simulation_streams *streams);
/* How the simulator writes samples of any event: its sample_type, registers and stack bytes. */
struct perf_attr simulation_streams_attr(const struct simulation_streams *streams);

/* The next record, valid until the next call. */
TALLY_MUST_CHECK enum tally_status simulation_streams_next(
	struct simulation_streams *streams, struct record *record, struct tally_error *err);
struct simulation_stream_totals simulation_streams_totals(const struct simulation_streams *streams);
/* Bytes of all files. */
uint64_t simulation_streams_bytes(const struct simulation_streams *streams);

#endif

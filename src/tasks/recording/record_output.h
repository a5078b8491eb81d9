/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record_output.h - writes a recording's bytes to a file, to standard output as a stream, or to a sequence of files.
 *
 * The session owns it (record_output_deinit). It owns the writer and the feature sections, which are read once. The
 * header of a file is updated every RECORD_SYNC_MS (see perfdata/writer.h). Switching finishes the file, appends the
 * time to its name, and starts the next one under the old name. As in perf, files of a switched recording have no build
 * IDs, because reading each file again would take too long.
 *
 *	record_output_init(&output, &request, err); record_output_open(&output, recorder, &target, err);
 *	record_output_append(&output, slices, slice_count, err); record_output_finish_round(&output, err);
 *	record_output_finish(&output, &summary, err); record_output_deinit(&output);
 */
#ifndef TASKS_RECORDING_RECORD_OUTPUT_H
#define TASKS_RECORDING_RECORD_OUTPUT_H

#include "base/text.h"
#include "perfdata/writer.h"
#include "tasks/recording/record_features.h"
#include "tasks/recording/record_request.h"
#include "tasks/recording/record_threads.h"

/* Interval of header updates. A killed recording may lose the data of one interval in addition to its buffers. */
#define RECORD_SYNC_MS 250

struct record_output {
	const struct record_request *request;
	struct recorder *recorder;
	struct perfdata_writer *writer;
	struct record_threads *threads; /* NULL if the caller drains the rings. */
	struct record_features features;
	bool has_features;
	bool is_recording; /* The data before the first record has been written. */
	int pipe_fd; /* Descriptor of the stream, or -1 if the output is a file. */
	int64_t opened_ms, synced_ms;
	uint64_t former_bytes; /* Total size of finished files. */
	struct compressor_totals former_totals;
	char **kept; /* Names of at most max_files finished files, oldest first. */
	size_t kept_count;
	struct text changed; /* Description of how sampling changed the program, which the features borrow. */
};

/* Reserves standard output for the stream: the command writes to standard error instead, as with perf. Must be called
 * before the command starts. */
TALLY_MUST_CHECK enum tally_status record_output_init(
	struct record_output *o, const struct record_request *request, struct tally_error *err);
/* Opens the first file, or the stream, and writes everything before the records. */
TALLY_MUST_CHECK enum tally_status record_output_open(
	struct record_output *o, struct recorder *recorder, const struct target *target, struct tally_error *err);
TALLY_MUST_CHECK enum tally_status record_output_append(
	struct record_output *o, const struct tally_bytes *slices, size_t slice_count, struct tally_error *err);
TALLY_MUST_CHECK enum tally_status record_output_finish_round(struct record_output *o, struct tally_error *err);
/* For a failed write: prefixes the error's message with a clause that says whether the output contains the recording up
 * to now. Returns the error's status. */
enum tally_status record_output_failure(const struct record_output *o, struct tally_error *err);
/* Updates the header to include everything that was written. Must be called at the end of a round. */
TALLY_MUST_CHECK enum tally_status record_output_sync(struct record_output *o, struct tally_error *err);
/* Returns whether the time or size for the next file has been reached. */
bool record_output_wants_switch(const struct record_output *o);
/* Returns whether the output exceeds --max-size, and sets bytes to its size. */
bool record_output_is_full(const struct record_output *o, uint64_t *bytes);
/* Returns the number of milliseconds until the next sync or switch is due. */
int record_output_timeout_ms(const struct record_output *o);
/* Finishes the file and opens the next one, into which the caller must write the initial state. */
TALLY_MUST_CHECK enum tally_status record_output_switch(struct record_output *o, struct tally_error *err);
TALLY_MUST_CHECK enum tally_status record_output_finish(
	struct record_output *o, struct record_summary *summary, struct tally_error *err);
/* Adds to the features that records are compressed. */
void record_output_describe_compression(struct perfdata_features *features, int level);
/* Removes the file or directory of a recording that failed before it started. Does nothing for streams. */
void record_output_abandon(struct record_output *o);
void record_output_deinit(struct record_output *o);

#endif

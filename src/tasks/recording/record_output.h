/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record_output.h - writes a recording's bytes to a file, to standard output as a stream, or to one file after another.
 *
 * The session owns it (record_output_deinit). It holds the writer and the feature sections, which are read once. The
 * header of a file is updated every RECORD_SYNC_MS (see perfdata/writer.h). Switching finishes the file, adds the time
 * to its name, and starts the next one under the old name. As in perf, files of a switched recording have no build IDs,
 * because reading each file again would take too long.
 *
 *	record_output_open(&output, &request, recorder, err);
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

#define RECORD_SYNC_MS 250 /* what a killed recording may lose in addition to the contents of its buffers */

struct record_output {
	const struct record_request *request;
	struct recorder *recorder;
	struct perfdata_writer *writer;
	struct record_threads *threads; /* NULL: the caller empties the rings */
	struct record_features features;
	bool has_features;
	bool is_recording; /* the beginning is written */
	int pipe_fd; /* of the stream; -1: the output is a file */
	int64_t opened_ms, synced_ms;
	uint64_t former_bytes; /* of finished files */
	struct compressor_totals former_totals;
	char **kept; /* names of finished files, oldest first; max_files of them at most */
	size_t kept_count;
	struct text changed; /* by sampling: features borrow it */
};

/* Reserves standard output for the stream: the command writes to standard error instead, as under perf. Call it before
 * the command starts. */
TALLY_MUST_CHECK enum tally_status record_output_init(
	struct record_output *o, const struct record_request *request, struct tally_error *err);
/* Opens the first file, or the stream, and writes everything before the records. */
TALLY_MUST_CHECK enum tally_status record_output_open(
	struct record_output *o, struct recorder *recorder, const struct target *target, struct tally_error *err);
TALLY_MUST_CHECK enum tally_status record_output_append(
	struct record_output *o, const struct tally_bytes *slices, size_t slice_count, struct tally_error *err);
TALLY_MUST_CHECK enum tally_status record_output_finish_round(struct record_output *o, struct tally_error *err);
/* Prefixes the error with what remains of the recording after a failed write. Returns the error's status. */
enum tally_status record_output_failure(const struct record_output *o, struct tally_error *err);
/* Updates the header to everything that was written. Call it at the end of a round. */
TALLY_MUST_CHECK enum tally_status record_output_sync(struct record_output *o, struct tally_error *err);
/* Whether the time or size for the next file is reached. */
bool record_output_wants_switch(const struct record_output *o);
/* Whether the output exceeds --max-size; bytes is its size. */
bool record_output_is_full(const struct record_output *o, uint64_t *bytes);
/* Milliseconds until the next sync or switch is due. */
int record_output_timeout_ms(const struct record_output *o);
/* Finishes the file and opens the next. The caller writes the initial state into it. */
TALLY_MUST_CHECK enum tally_status record_output_switch(struct record_output *o, struct tally_error *err);
TALLY_MUST_CHECK enum tally_status record_output_finish(
	struct record_output *o, struct record_summary *summary, struct tally_error *err);
/* Says in the features that records are compressed. */
void record_output_describe_compression(struct perfdata_features *features, int level);
/* Removes a file that never held a recording. */
void record_output_abandon(struct record_output *o);
void record_output_deinit(struct record_output *o);

#endif

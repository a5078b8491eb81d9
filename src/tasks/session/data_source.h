/* SPDX-License-Identifier: Apache-2.0 */
/*
 * data_source.h - opens a recording for a verb: the file, the store of its symbols, and everything that is needed to
 * read its samples in time order, each with its names.
 *
 * The caller owns the source and closes it; everything that is borrowed from it lives until then. It must not be moved.
 * Not thread-safe.
 *
 *	data_source_open(cli, &(struct data_input){.file.path = path}, &source, err);
 *	while ((status = data_source_next(&source, &sample, err)) == TALLY_OK) ...
 *	data_source_close(&source);
 *
 * Verbs that replay the recording into a profile open only the first two parts:
 *
 *	status = data_source_open_reader(&input, &source, err);
 *	if (status == TALLY_OK)
 *		status = data_source_open_store(cli, &input, &source, err);
 *	... replay_profile(source.reader, source.store, ...) ...
 */
#ifndef TASKS_SESSION_DATA_SOURCE_H
#define TASKS_SESSION_DATA_SOURCE_H

#include "analysis/frame_names.h"
#include "analysis/group_reads.h"
#include "analysis/live/live_records.h"
#include "analysis/recording_pass.h"
#include "analysis/tracepoint_fields.h"
#include "base/progress.h"
#include "cli/cli.h"
#include "perfdata/time_order.h"
#include "tasks/session/recording_input.h"
#include "tasks/session/sample_options.h"
#include "tasks/session/symbol_options.h"
#include "tasks/session/trace_options.h"

/* A sample. If the source's with_sideband is set, it may also be another record: event is then NULL, and only the time
 * and the CPU of sample are set. */
struct data_sample {
	const struct perfdata_event *event;
	struct record record;
	struct sample sample;
	/* Time in nanoseconds, or position in the recording if it has no times; the machine's history is indexed by
	 * it. */
	uint64_t clock;
};

struct data_source {
	struct perfdata_reader *reader;
	struct binary_store *store;
	struct recording_pass pass;
	struct frame_names names;
	struct tracepoint_printer *tracepoints; /* NULL if the recording does not describe tracepoints. */
	struct tally_error tracepoint_error; /* Reason why the tracepoints' formats cannot be used. */
	struct time_order *order; /* Order of the records; NULL if live is set. */
	struct live_records *live; /* NULL if the recording was read to its end when it was opened. */
	struct sample_filter filter; /* Selects samples. */
	uint64_t skipped; /* Number of samples that the filter rejected. */
	bool with_sideband; /* Set by the caller to receive mappings, names, forks and exits, too. */
	bool with_losses; /* Set by the caller to receive records of lost events, too; needs with_sideband. */
	struct group_reads reads;
	/* A sample that contains the values of its group; group_position is the position of the next value. */
	struct data_sample group;
	uint64_t group_position;
};

struct data_input {
	struct input_options file;
	struct trace_options traces;
	struct sample_options samples; /* Selects samples by time, CPU and thread. */
	struct symbol_options symbols;
	const struct binary_kept *kept; /* See struct binary_store_options. */
	/* End of the newest of several recordings that share a store, in nanoseconds since 1970; 0 for the end of this
	 * one. */
	uint64_t recorded_ns;
	/* Number of bytes of records after which the recording is treated as truncated; 0 for no limit. Has no effect
	 * if the records have to be copied (pipes, compressed data). */
	size_t max_bytes;
	struct progress *progress; /* NULL if progress is not shown. */
	bool is_live; /* Returns the records of a stream while more arrive, if they can be sorted that way. */
	bool shows_counts; /* The verb shows the counts of 'stat record', so no note refers to other verbs for that. */
	bool shows_origin; /* The verb's output describes the origin of the samples, so no note does. */
	bool is_quiet; /* Opening prints no notes; the verb calls data_source_tell later. */
};

/* Result of a conversion: numbers of samples and of other records. */
struct data_result {
	uint64_t samples, others;
	uint64_t bytes; /* Number of bytes of the JSON output, or for CTF of the records. */
};

/* Opens all parts. If it fails, nothing is left open. */
TALLY_MUST_CHECK enum tally_status data_source_open(
	const struct cli *cli, const struct data_input *input, struct data_source *source, struct tally_error *err);
/* Works like data_source_open, for an open reader and an existing store (NULL for a new one). The source owns both from
 * then on, also after a failure. The path in input is only used in messages. */
TALLY_MUST_CHECK enum tally_status data_source_take(const struct cli *cli, const struct data_input *input,
	struct perfdata_reader *reader, struct binary_store *store, struct data_source *source,
	struct tally_error *err);
/* The three parts of data_source_open, for verbs that need fewer of them, or do something in between. The first one
 * initializes the source; if one of the others fails, the caller must close it. */
TALLY_MUST_CHECK enum tally_status data_source_open_reader(
	const struct data_input *input, struct data_source *source, struct tally_error *err);
TALLY_MUST_CHECK enum tally_status data_source_open_store(
	const struct cli *cli, const struct data_input *input, struct data_source *source, struct tally_error *err);
TALLY_MUST_CHECK enum tally_status data_source_read(
	const struct cli *cli, const struct data_input *input, struct data_source *source, struct tally_error *err);
void data_source_close(struct data_source *source);
/* Prints notes about the recording: which parts cannot be used, and which verbs show the counts of 'stat record'.
 * Opening does the same, unless input has is_quiet. */
void data_source_tell(const struct cli *cli, const struct data_input *input, const struct data_source *source);
/* Returns the next record in time order without decoding it, for verbs that select samples themselves. Returns
 * TALLY_END after the last one. */
TALLY_MUST_CHECK enum tally_status data_source_next_record(
	struct data_source *source, struct time_order_item *item, struct tally_error *err);
/* Must be called after the last wanted record. Counts the records that arrived too late to be sorted. */
void data_source_end_records(struct data_source *source);
/* Returns the next sample, or TALLY_END after the last one. A sample that contains the values of its group is returned
 * as one sample for each event with a changed count. Samples that belong to no event, or cannot be decoded, are counted
 * in the sideband's health and skipped. */
TALLY_MUST_CHECK enum tally_status data_source_next(
	struct data_source *source, struct data_sample *sample, struct tally_error *err);
/* Decodes a sample of the recording's events that does not come from the reader, but has the recorded format. Returns
 * false if it belongs to none of them, or cannot be decoded, which is counted. */
bool data_source_decode(struct data_source *source, const struct record *record, struct data_sample *sample);
/* Discards the resolved frames and their names; earlier frames become invalid. Returns false if memory runs out. */
bool data_source_forget_frames(struct data_source *source);
/* Returns the thread's name at the time of the sample, or, if it has none, a name made of its number, which is stored
 * in room. */
struct tally_str data_source_comm(const struct data_source *source, const struct data_sample *sample, char room[16]);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * data_source.h - opens a recording for a verb: the file, the store of its symbols, and what is needed to take its
 * samples in time order, each with its names.
 *
 * The caller owns the source and closes it; what is borrowed from it lives until then. It must not be moved. One thread.
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

struct data_sample { /* with_sideband: also a record that is not a sample; then event is NULL, and sample has time and CPU */
	const struct perfdata_event *event;
	struct record record;
	struct sample sample;
	uint64_t clock; /* of the machine: time, or position if there is none */
};

struct data_source {
	struct perfdata_reader *reader;
	struct binary_store *store;
	struct recording_pass pass;
	struct frame_names names;
	struct tracepoint_printer *tracepoints; /* NULL: the recording describes none */
	struct tally_error tracepoint_error; /* why the tracepoints' formats cannot be used */
	struct time_order *order; /* of records; NULL with live */
	struct live_records *live; /* NULL: the recording was read to its end */
	struct sample_filter filter; /* which samples are wanted */
	uint64_t skipped; /* samples that the filter does not select */
	bool with_sideband; /* the caller also wants mappings, names, forks and exits */
	bool with_losses; /* it also wants records of lost events; needs with_sideband */
	struct group_reads reads;
	struct data_sample group; /* a sample that read its group, and how many of its values came out */
	uint64_t group_position;
};

struct data_input {
	struct input_options file;
	struct trace_options traces;
	struct sample_options samples; /* which samples are selected: by time, CPU and thread */
	struct symbol_options symbols;
	const struct binary_kept *kept; /* see struct binary_store_options */
	uint64_t recorded_ns; /* when the newest of several recordings that share a store ended; 0: when this one did */
	size_t max_bytes; /* of records: the recording is taken as one that was cut there; 0: no bound. Copies have none */
	struct progress *progress; /* NULL: progress is not shown */
	bool is_live; /* pass on the records of a stream while more arrive, if they can be sorted that way */
	bool shows_counts; /* the verb shows the counts of 'stat record': no note names other verbs for that */
	bool shows_origin; /* the verb's output says what made the samples: no note does */
	bool is_quiet; /* opening prints no notes: the verb calls data_source_tell later */
};

struct data_result { /* of a conversion */
	uint64_t samples, others;
	uint64_t bytes; /* of JSON: written; of CTF: of the records */
};

/* All of it. A failure leaves nothing open. */
TALLY_MUST_CHECK enum tally_status data_source_open(
	const struct cli *cli, const struct data_input *input, struct data_source *source, struct tally_error *err);
/* Like data_source_open, for an open reader and a store that has symbols already (NULL: a new one). The source owns both from then on, also
 * after a failure. input's path is only used in messages. */
TALLY_MUST_CHECK enum tally_status data_source_take(const struct cli *cli, const struct data_input *input,
	struct perfdata_reader *reader, struct binary_store *store, struct data_source *source,
	struct tally_error *err);
/* The three parts of data_source_open, for verbs that need fewer of them, or do something in between. The first one
 * initialises the source; after a failure of the others, the caller closes it. */
TALLY_MUST_CHECK enum tally_status data_source_open_reader(
	const struct data_input *input, struct data_source *source, struct tally_error *err);
TALLY_MUST_CHECK enum tally_status data_source_open_store(
	const struct cli *cli, const struct data_input *input, struct data_source *source, struct tally_error *err);
TALLY_MUST_CHECK enum tally_status data_source_read(
	const struct cli *cli, const struct data_input *input, struct data_source *source, struct tally_error *err);
void data_source_close(struct data_source *source);
/* Prints notes about the recording: which parts cannot be used, and which verbs show the counts of 'stat record'. Opening
 * calls it, unless input has is_quiet. */
void data_source_tell(const struct cli *cli, const struct data_input *input, const struct data_source *source);
/* The next record in time order, not decoded: for verbs that select samples themselves. */
TALLY_MUST_CHECK enum tally_status data_source_next_record(
	struct data_source *source, struct time_order_item *item, struct tally_error *err);
/* To be called after the last record that is wanted: counts the records that came too late to be sorted. */
void data_source_end_records(struct data_source *source);
/* A sample that read its group becomes one sample for each event whose count has changed. Samples that belong to no
 * event, or cannot be decoded, are counted in the sideband's health and skipped. */
TALLY_MUST_CHECK enum tally_status data_source_next(
	struct data_source *source, struct data_sample *sample, struct tally_error *err);
/* Adds a sample that does not come from the reader, of the same events, in the form in which they are recorded. False:
 * it belongs to none of them, or cannot be decoded, which is counted. */
bool data_source_decode(struct data_source *source, const struct record *record, struct data_sample *sample);
/* Forgets which frames were resolved, and their names: earlier frames are not valid any more. False: out of memory. */
bool data_source_forget_frames(struct data_source *source);
/* The thread's name at the time of the sample. Without a name: made of its number, in room. */
struct tally_str data_source_comm(const struct data_source *source, const struct data_sample *sample, char room[16]);

#endif

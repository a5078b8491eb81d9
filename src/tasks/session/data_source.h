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

struct data_sample { /* or, with with_sideband, a record that is not a sample: event is NULL, time and CPU are set */
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
	uint64_t skipped; /* samples that are not */
	bool with_sideband; /* mappings, names, forks and exits come too; the caller's choice */
	bool with_losses; /* and, with these, records of lost events */
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
	struct progress *progress; /* NULL: nobody looks */
	bool is_live; /* what a stream has told is handed out while more comes, if its records can be sorted so */
	bool shows_counts; /* of 'stat record': no note says who does */
	bool is_quiet; /* data_source_tell says it later */
};

struct data_result { /* of a conversion */
	uint64_t samples, others;
	uint64_t bytes; /* of JSON: written; of CTF: of the records */
};

/* All of it. A failure leaves nothing open. */
TALLY_MUST_CHECK enum tally_status data_source_open(
	const struct cli *cli, const struct data_input *input, struct data_source *source, struct tally_error *err);
/* The same for an open reader, with a store to continue with (NULL: a new one). The source owns both from then on, also
 * after a failure. input's path is only its name. */
TALLY_MUST_CHECK enum tally_status data_source_take(const struct cli *cli, const struct data_input *input,
	struct perfdata_reader *reader, struct binary_store *store, struct data_source *source,
	struct tally_error *err);
/* The three parts of it, for verbs that need fewer of them, or do something between. The first one initialises the
 * source; a failure of the others leaves what is there to be closed. */
TALLY_MUST_CHECK enum tally_status data_source_open_reader(
	const struct data_input *input, struct data_source *source, struct tally_error *err);
TALLY_MUST_CHECK enum tally_status data_source_open_store(
	const struct cli *cli, const struct data_input *input, struct data_source *source, struct tally_error *err);
TALLY_MUST_CHECK enum tally_status data_source_read(
	const struct cli *cli, const struct data_input *input, struct data_source *source, struct tally_error *err);
void data_source_close(struct data_source *source);
/* Says what parts of the recording cannot be used, and who shows counts of stat: opening does, unless it is to be
 * quiet. */
void data_source_tell(const struct cli *cli, const struct data_input *input, const struct data_source *source);
/* Any record, in time order, not decoded: for verbs that take samples by rules of their own. */
TALLY_MUST_CHECK enum tally_status data_source_next_record(
	struct data_source *source, struct time_order_item *item, struct tally_error *err);
/* After the last one that is wanted: counts the records that came too late to be sorted. */
void data_source_end_records(struct data_source *source);
/* A sample that read its group becomes one sample for each event whose count has changed. Samples that belong to no
 * event, or cannot be decoded, are counted in the sideband's health and skipped. */
TALLY_MUST_CHECK enum tally_status data_source_next(
	struct data_source *source, struct data_sample *sample, struct tally_error *err);
/* Adds a sample that does not come from the reader, of the same events, in the form in which they are recorded. False:
 * it belongs to none of them, or cannot be decoded, which is counted. */
bool data_source_decode(struct data_source *source, const struct record *record, struct data_sample *sample);
/* What was resolved, and its names, begin anew: frames of before are void. False: out of memory. */
bool data_source_forget_frames(struct data_source *source);
/* The thread's name then; in room where it had none. */
struct tally_str data_source_comm(const struct data_source *source, const struct data_sample *sample, char room[16]);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * diff_recordings.h - replays several recordings in the same way, so that their profiles can be compared.
 *
 * The caller closes them. Recordings with the same kernel share a store, so that a program's symbols are read once.
 * Losses of a recording are printed on standard error when it is read.
 *
 *	struct diff_recordings r;
 *	diff_recordings_open(cli, &request, &options, &r, err);
 *	for (size_t i = 0; i < r.count; i++) use(r.items[i].result.profile);
 *	diff_recordings_close(&r);
 */
#ifndef VERBS_DIFF_DIFF_RECORDINGS_H
#define VERBS_DIFF_DIFF_RECORDINGS_H

#include "analysis/replay/replay.h"
#include "analysis/wait_events.h"
#include "cli/cli.h"
#include "profile/rows/hot_streams.h"
#include "tasks/session/data_source.h"
#include "verbs/diff/diff_request.h"

struct diff_recording {
	const char *path;
	struct data_source source; /* The reader; also the store, unless that belongs to an earlier recording. */
	struct replay_result result;
	struct profile_filter filter;
	struct wait_events waits; /* The wait events, and how they are counted in the result. */
	/* The store of this recording, or that of an earlier recording with the same kernel. */
	struct binary_store *store;
};

struct diff_recordings {
	struct diff_recording *items;
	size_t count;
	bool *cpus; /* Selected CPUs; NULL for all. */
};

/* options selects data to retain in addition to what the request needs. */
TALLY_MUST_CHECK enum tally_status diff_recordings_open(const struct cli *cli, const struct diff_request *request,
	const struct replay_options *options, struct diff_recordings *recordings, struct tally_error *err);
void diff_recordings_close(struct diff_recordings *recordings);
/* Returns the event of a recording with the type and config of another recording's event, or PROFILE_NONE. */
uint32_t diff_recording_event(
	const struct diff_recording *recording, const struct diff_recording *other, uint32_t other_event);
/* Sets times to the part of --time that applies to a recording, which the caller frees; NULL if the whole recording is
 * selected. */
TALLY_MUST_CHECK enum tally_status diff_recording_times(
	const struct diff_request *request, size_t index, char **times, struct tally_error *err);
/* Makes the table of one event's rows, which the caller deinitialises. event is an index of the events of the recording
 * with this index. */
TALLY_MUST_CHECK enum tally_status diff_recording_table(const struct diff_recordings *recordings, size_t index,
	uint32_t event, const struct diff_request *request, struct flat_table *table, struct tally_error *err);
/* Finds the hot streams of a recording for the event that corresponds to the baseline's event with index event; finds
 * none if the recording lacks that event. The caller deinitialises streams. */
TALLY_MUST_CHECK enum tally_status diff_recording_streams(const struct diff_recordings *recordings, size_t index,
	uint32_t event, const struct diff_request *request, struct hot_streams *streams, struct tally_error *err);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * diff_recordings.h - replays several recordings in the same way, so that their profiles can be compared.
 *
 * The caller deinits. Recordings of one kernel share a store, so that a program's symbols are read once. Losses of a
 * recording are printed on standard error when it is read.
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
	struct data_source source; /* reader; and the store, if it has one of its own */
	struct replay_result result;
	struct profile_filter filter;
	struct wait_events waits; /* as they count in the result */
	struct binary_store *store; /* its own, or one of the others' */
};

struct diff_recordings {
	struct diff_recording *items;
	size_t count;
	bool *cpus; /* NULL: all */
};

/* options: what to keep beside what the request needs. */
TALLY_MUST_CHECK enum tally_status diff_recordings_open(const struct cli *cli, const struct diff_request *request,
	const struct replay_options *options, struct diff_recordings *recordings, struct tally_error *err);
void diff_recordings_close(struct diff_recordings *recordings);
/* The event of a recording that is the same as one of another's, by type and config; PROFILE_NONE: it has none. */
uint32_t diff_recording_event(
	const struct diff_recording *recording, const struct diff_recording *other, uint32_t other_event);
/* The part of --time that is about a recording, malloc'ed; NULL: all of it. */
TALLY_MUST_CHECK enum tally_status diff_recording_times(
	const struct diff_request *request, size_t index, char **times, struct tally_error *err);
/* One event's rows. The caller deinits. */
TALLY_MUST_CHECK enum tally_status diff_recording_table(const struct diff_recordings *recordings, size_t index,
	uint32_t event, const struct diff_request *request, struct flat_table *table, struct tally_error *err);
/* The hot streams of that event of a recording that is the same as the baseline's; none if it has no such event. The
 * caller deinits. */
TALLY_MUST_CHECK enum tally_status diff_recording_streams(const struct diff_recordings *recordings, size_t index,
	uint32_t event, const struct diff_request *request, struct hot_streams *streams, struct tally_error *err);

#endif

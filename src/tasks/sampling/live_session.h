/* SPDX-License-Identifier: Apache-2.0 */
/*
 * live_session.h - samples into a profile that is refreshed, instead of a file.
 *
 * A separate thread drains the rings, so that they do not fill up while a profile is made; everything else runs in the
 * caller's thread. The session is opened in two steps, because the recorded properties of samples depend on which
 * events could be opened. The request and everything that it points to must exist until close, which is safe at any
 * time. The caller handles signals.
 *
 *	live_session_open(&request, &session, err);	// events and rings
 *	... perfdata_reader_open_beginning(live_session_description(session), ...) reads its events ...
 *	live_session_start(session, &(struct live_session_config){.replay = &replay, .store = &store}, err);
 *	while (!over) { wait; live_session_refresh(session, true, err); use(live_session_profile(session)); }
 *	live_session_close(session);
 */
#ifndef TASKS_SAMPLING_LIVE_SESSION_H
#define TASKS_SAMPLING_LIVE_SESSION_H

#include "analysis/live/live_profile.h"
#include "tasks/recording/record_request.h"

struct live_session;

/* Figures since the previous refresh. */
struct live_figures {
	double seconds;
	struct live_profile_figures records;
	uint64_t lost_in_all; /* Number of lost events since the start. */
	double own_cpu; /* CPU usage of this process; 1 is all of one CPU. */
	uint64_t samples_read; /* Number of samples since the start, counted when rings are drained. */
};

struct live_session_config {
	const struct replay_options *replay;
	const struct binary_store_options *store;
	unsigned rounds_kept; /* See struct live_profile_config. */
	/* Interval in milliseconds at which rings are drained, unless they fill up faster; 0 for the default, which
	 * suits a screen. */
	int drain_ms;
};

/* Receives the recording of each refresh. */
struct live_watcher {
	enum tally_status (*take)(void *context, struct tally_bytes recording, bool fades, struct tally_error *err);
	void (*zero)(void *context); /* Called when all samples are removed. */
	void *context;
};

TALLY_MUST_CHECK enum tally_status live_session_open(
	const struct record_request *request, struct live_session **session, struct tally_error *err);
void live_session_close(struct live_session *session);
/* Returns the events as the start of a recording (record_description.h), borrowed from the session. */
struct tally_bytes live_session_description(const struct live_session *session);
/* Starts sampling. */
TALLY_MUST_CHECK enum tally_status live_session_start(
	struct live_session *session, const struct live_session_config *config, struct tally_error *err);

/* Adds new samples to the profile. If fades is set, earlier samples lose weight. */
TALLY_MUST_CHECK enum tally_status live_session_refresh(
	struct live_session *session, bool fades, struct tally_error *err);
/* Returns the profile of the samples since the last call, which the caller owns. If is_last is set, sampling ends, and
 * the profile contains all remaining samples. Must not be combined with live_session_refresh. */
TALLY_MUST_CHECK enum tally_status live_session_take(
	struct live_session *session, bool is_last, struct profile **profile, struct tally_error *err);
/* Sets the number of samples per second for events that sample by frequency. The period of later samples of clock
 * events is the time between two samples. Returns UNSUPPORTED if the kernel rejects the value; nothing has changed
 * then. */
TALLY_MUST_CHECK enum tally_status live_session_set_frequency(
	struct live_session *session, uint64_t frequency, struct tally_error *err);
/* Returns whether waits are recorded. */
bool live_session_has_waits(const struct live_session *session);
/* Pauses or continues the recording of waits. */
TALLY_MUST_CHECK enum tally_status live_session_run_waits(
	struct live_session *session, bool is_running, struct tally_error *err);
/* Returns the number of parts of waits that were measured so far (record_waits_parts), or 0 if waits are not
 * recorded. */
uint64_t live_session_wait_parts(struct live_session *session);
/* Returns the number of context switches and waits that could not be recorded since the start. */
uint64_t live_session_lost_waits(struct live_session *session);
/* Returns whether so many records have arrived that they should not wait for the next refresh. */
bool live_session_is_full(struct live_session *session);
/* Processes pending records without fading. */
TALLY_MUST_CHECK enum tally_status live_session_relieve(struct live_session *session, struct tally_error *err);
/* Pauses or continues sampling; processes are still tracked. */
TALLY_MUST_CHECK enum tally_status live_session_pause(
	struct live_session *session, bool is_paused, struct tally_error *err);
/* Removes all samples. */
TALLY_MUST_CHECK enum tally_status live_session_zero(struct live_session *session, struct tally_error *err);
/* Sets the receiver of the recording of each refresh (live_profile_recording) until the next call; NULL for none. */
void live_session_watch(struct live_session *session, const struct live_watcher *watcher);
/* Returns the live profile, which is borrowed until the next refresh. Parts of it may be hidden. */
struct live_profile *live_session_profile(struct live_session *session);
struct live_figures live_session_figures(const struct live_session *session);
/* Returns whether all threads of the target have ended. */
bool live_session_is_over(struct live_session *session);
const struct target *live_session_target(const struct live_session *session);

#endif

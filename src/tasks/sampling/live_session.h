/* SPDX-License-Identifier: Apache-2.0 */
/*
 * live_session.h - samples into a profile that is refreshed, instead of a file.
 *
 * A separate thread empties the rings, so that they do not fill while a profile is made; everything else runs in the
 * caller's thread. It is opened in two steps, because the kept properties of samples depend on which events could be
 * opened. The caller keeps the request and all that it points to until close, which is safe at any time. The caller
 * handles signals.
 *
 *	live_session_open(&request, &session, err);	// events and rings
 *	... perfdata_reader_open_beginning(live_session_description(session), ...): its events ...
 *	live_session_start(session, &(struct live_session_config){.replay = &replay, .store = &store}, err);
 *	while (!over) { wait; live_session_refresh(session, true, err); use(live_session_profile(session)); }
 *	live_session_close(session);
 */
#ifndef TASKS_SAMPLING_LIVE_SESSION_H
#define TASKS_SAMPLING_LIVE_SESSION_H

#include "analysis/live/live_profile.h"
#include "tasks/recording/record_request.h"

struct live_session;

struct live_figures { /* since the refresh before */
	double seconds;
	struct live_profile_figures records;
	uint64_t lost_in_all; /* events */
	double own_cpu; /* of one CPU: 1 is all of it */
	uint64_t samples_read; /* counted where rings are read, in all */
};

struct live_session_config {
	const struct replay_options *replay;
	const struct binary_store_options *store;
	unsigned rounds_kept; /* as live_profile_config's */
	int drain_ms; /* rings that do not fill faster are emptied so often; 0: as a screen needs it */
};

struct live_watcher {
	enum tally_status (*take)(void *context, struct tally_bytes recording, bool fades, struct tally_error *err);
	void (*zero)(void *context); /* all samples were removed */
	void *context;
};

TALLY_MUST_CHECK enum tally_status live_session_open(
	const struct record_request *request, struct live_session **session, struct tally_error *err);
void live_session_close(struct live_session *session);
/* The start of a stream: the events as they were opened. */
struct tally_bytes live_session_description(const struct live_session *session);
/* Starts sampling. */
TALLY_MUST_CHECK enum tally_status live_session_start(
	struct live_session *session, const struct live_session_config *config, struct tally_error *err);

/* Adds new samples to the profile. fades: earlier samples lose weight. */
TALLY_MUST_CHECK enum tally_status live_session_refresh(
	struct live_session *session, bool fades, struct tally_error *err);
/* Hands over the profile of the samples since the last call. is_last: sampling ends, and the profile has all that is
 * left. Not together with live_session_refresh. */
TALLY_MUST_CHECK enum tally_status live_session_take(
	struct live_session *session, bool is_last, struct profile **profile, struct tally_error *err);
/* Sets the samples per second of events that sample by frequency. Later samples of clocks stand for the time between two
 * of them. UNSUPPORTED: the kernel refuses the value, and nothing has changed. */
TALLY_MUST_CHECK enum tally_status live_session_set_frequency(
	struct live_session *session, uint64_t frequency, struct tally_error *err);
/* Whether waits are recorded, and whether they go on. */
bool live_session_has_waits(const struct live_session *session);
TALLY_MUST_CHECK enum tally_status live_session_run_waits(
	struct live_session *session, bool is_running, struct tally_error *err);
/* As record_waits_parts; 0 without waits. */
uint64_t live_session_wait_parts(struct live_session *session);
/* Switches and waits that are missing, in all. */
uint64_t live_session_lost_waits(struct live_session *session);
/* Whether so many records came that they should not wait for the next refresh. */
bool live_session_is_full(struct live_session *session);
/* Processes pending records; nothing fades. */
TALLY_MUST_CHECK enum tally_status live_session_relieve(struct live_session *session, struct tally_error *err);
/* Pauses or continues sampling; processes are still followed. */
TALLY_MUST_CHECK enum tally_status live_session_pause(
	struct live_session *session, bool is_paused, struct tally_error *err);
/* Removes all samples. */
TALLY_MUST_CHECK enum tally_status live_session_zero(struct live_session *session, struct tally_error *err);
/* Who gets the recording of each refresh (live_profile_recording) until the next call; NULL: nobody. */
void live_session_watch(struct live_session *session, const struct live_watcher *watcher);
/* Borrowed until the next refresh; also to hide parts of it. */
struct live_profile *live_session_profile(struct live_session *session);
struct live_figures live_session_figures(const struct live_session *session);
/* Whether all threads of the target have ended. */
bool live_session_is_over(struct live_session *session);
const struct target *live_session_target(const struct live_session *session);

#endif

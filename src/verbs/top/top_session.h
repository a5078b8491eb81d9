/* SPDX-License-Identifier: Apache-2.0 */
/*
 * top_session.h - samples into a profile that is refreshed, instead of a file.
 *
 * A separate thread empties the rings, so that they do not fill while a profile is made; everything else runs in the
 * caller's thread. It is opened in two steps, because the kept properties of samples depend on which events could be
 * opened. The caller keeps the request and all that it points to until close, which is safe at any time. The caller
 * handles signals.
 *
 *	top_session_open(&request, &session, err);	// events and rings
 *	... perfdata_reader_open_beginning(top_session_description(session), ...): its events ...
 *	top_session_start(session, &replay, &symbols, &store, err);
 *	while (!over) { wait; top_session_refresh(session, true, err); use(top_session_profile(session)); }
 *	top_session_close(session);
 */
#ifndef VERBS_TOP_TOP_SESSION_H
#define VERBS_TOP_TOP_SESSION_H

#include "analysis/live/live_profile.h"
#include "tasks/recording/record_request.h"
#include "verbs/top/top_annotate.h"

struct top_session;

struct top_figures { /* since the refresh before */
	double seconds;
	struct live_profile_figures records;
	uint64_t lost_in_all; /* events */
	double own_cpu; /* of one CPU: 1 is all of it */
};

TALLY_MUST_CHECK enum tally_status top_session_open(
	const struct record_request *request, struct top_session **session, struct tally_error *err);
void top_session_close(struct top_session *session);
/* The start of a stream: the events as they were opened. */
struct tally_bytes top_session_description(const struct top_session *session);
/* Starts sampling. */
TALLY_MUST_CHECK enum tally_status top_session_start(struct top_session *session, const struct replay_options *replay,
	const struct symbol_options *symbols, const struct binary_store_options *store, struct tally_error *err);

/* Adds new samples to the profile. fades: earlier samples lose weight. */
TALLY_MUST_CHECK enum tally_status top_session_refresh(
	struct top_session *session, bool fades, struct tally_error *err);
/* Whether so many records came that they should not wait for the next refresh. */
bool top_session_is_full(struct top_session *session);
/* Processes pending records; nothing fades. */
TALLY_MUST_CHECK enum tally_status top_session_relieve(struct top_session *session, struct tally_error *err);
/* Pauses or continues sampling; processes are still followed. */
TALLY_MUST_CHECK enum tally_status top_session_pause(
	struct top_session *session, bool is_paused, struct tally_error *err);
/* Removes all samples. */
TALLY_MUST_CHECK enum tally_status top_session_zero(struct top_session *session, struct tally_error *err);
/* Starts to collect samples by address, beginning with those of the last refresh; if it was started before, it
 * continues. The session owns them. */
TALLY_MUST_CHECK enum tally_status top_session_annotate(
	struct top_session *session, const struct cli *cli, struct top_annotate **annotate, struct tally_error *err);
void top_session_stop_annotating(struct top_session *session);
/* Borrowed until the next refresh; also to hide parts of it. */
struct live_profile *top_session_profile(struct top_session *session);
struct top_figures top_session_figures(const struct top_session *session);
/* Whether all threads of the target have ended. */
bool top_session_is_over(struct top_session *session);
const struct target *top_session_target(const struct top_session *session);

#endif

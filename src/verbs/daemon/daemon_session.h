/* SPDX-License-Identifier: Apache-2.0 */
/*
 * daemon_session.h - runs one recording of a daemon: `record` as a child in a folder of its own, with FIFOs through
 * which it is asked whether it runs.
 *
 *	status = daemon_session_start(&session, base_fd, program, err);
 *	if (daemon_session_ping(&session)) ...
 */
#ifndef VERBS_DAEMON_DAEMON_SESSION_H
#define VERBS_DAEMON_DAEMON_SESSION_H

#include <stdbool.h>
#include <sys/types.h>
#include <tally/status.h>

struct daemon_session {
	char *name, *run;
	char *folder; /* its absolute path */
	pid_t pid; /* 0: it does not run */
	int control_fd, ack_fd; /* -1: not open */
	uint64_t started_ns;
	uint64_t kill_ns; /* when it is killed unless it has ended; 0: it was not asked to end */
	bool is_ready; /* it has answered: its handlers of signals are in place */
};

/* Makes the session's folder below base, and starts `program record` in it. On failure the session does not run. */
TALLY_MUST_CHECK enum tally_status daemon_session_start(
	struct daemon_session *session, const char *base, const char *program, struct tally_error *err);
/* Whether the recorder answers within a second or so. */
bool daemon_session_ping(struct daemon_session *session);
/* Sends SIGUSR2, upon which record --switch-output begins another file. False: not sent, because the recorder has not
 * answered yet; the signal would end it before it has its handler. */
bool daemon_session_signal(struct daemon_session *session);
/* Sends SIGTERM, upon which record completes its file. */
void daemon_session_end(struct daemon_session *session);
/* Of a session that does not run (any more). */
void daemon_session_deinit(struct daemon_session *session);

#endif

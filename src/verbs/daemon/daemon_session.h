/* SPDX-License-Identifier: Apache-2.0 */
/*
 * daemon_session.h - runs one recording of a daemon: `record` as a child process in a folder of its own, with FIFOs for
 * its control commands and their acknowledgements.
 *
 *	status = daemon_session_start(&session, base, program, err);
 *	if (daemon_session_ping(&session)) ...
 */
#ifndef VERBS_DAEMON_DAEMON_SESSION_H
#define VERBS_DAEMON_DAEMON_SESSION_H

#include <stdbool.h>
#include <sys/types.h>
#include <tally/status.h>

struct daemon_session {
	char *name, *run;
	char *folder; /* Absolute path of the session's folder. */
	pid_t pid; /* 0 if the session does not run. */
	int control_fd, ack_fd; /* The FIFOs; -1 if not open. */
	uint64_t started_ns; /* Time (clock_ns) of the start. */
	/* Time (clock_ns) at which the recorder is killed if it still runs; 0 if it has not been told to end. */
	uint64_t kill_ns;
	bool is_ready; /* It has answered a ping, so its signal handlers are installed. */
};

/* Creates the session's folder below base, and starts `program record` in it. On failure the session does not run. */
TALLY_MUST_CHECK enum tally_status daemon_session_start(
	struct daemon_session *session, const char *base, const char *program, struct tally_error *err);
/* Returns whether the recorder answers within a second. */
bool daemon_session_ping(struct daemon_session *session);
/* Sends SIGUSR2, upon which record --switch-output begins a new file. Returns false without sending it if the recorder
 * has not answered a ping, because the signal would kill it before its handler is installed. */
bool daemon_session_signal(struct daemon_session *session);
/* Sends SIGTERM, upon which record completes its file. */
void daemon_session_end(struct daemon_session *session);
/* Frees a session that does not run. */
void daemon_session_deinit(struct daemon_session *session);

#endif

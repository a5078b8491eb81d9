/* SPDX-License-Identifier: Apache-2.0 */
/*
 * daemon_server.h - runs the daemon: starts the sessions of its configuration, follows changes of the file, and answers
 * on its socket until it is told to stop.
 *
 *	status = daemon_server_open(&server, &config, err);    // lock, folder and socket; may fail with a message
 *	daemon_server_run(&server);
 */
#ifndef VERBS_DAEMON_DAEMON_SERVER_H
#define VERBS_DAEMON_DAEMON_SERVER_H

#include "verbs/daemon/daemon_state.h"

/* Reads the plan; base (may be NULL) replaces its daemon.base. Takes the lock of the base folder. */
TALLY_MUST_CHECK enum tally_status daemon_server_open(
	struct daemon_server *server, const char *base, struct tally_error *err);
/* Until it is stopped, by its socket or a signal. In the process that is the daemon. */
TALLY_MUST_CHECK enum tally_status daemon_server_run(struct daemon_server *server, struct tally_error *err);
void daemon_server_close(struct daemon_server *server);

#endif

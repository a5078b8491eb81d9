/* SPDX-License-Identifier: Apache-2.0 */
/*
 * daemon_server.h - runs the daemon: starts the sessions of its configuration, applies changes of the configuration
 * file, and answers on its socket until it is stopped.
 *
 *	status = daemon_server_open(&server, base, err);    // acquires the lock, the folder and the socket
 *	daemon_server_run(&server, err);
 */
#ifndef VERBS_DAEMON_DAEMON_SERVER_H
#define VERBS_DAEMON_DAEMON_SERVER_H

#include "verbs/daemon/daemon_state.h"

/* Reads the configuration, locks the base folder and creates the socket. The base folder is base, or the one of
 * daemon.base if base is NULL. The caller sets program and config before, and calls daemon_server_close, also after a
 * failure. */
TALLY_MUST_CHECK enum tally_status daemon_server_open(
	struct daemon_server *server, const char *base, struct tally_error *err);
/* Runs until stopped through the socket or by a signal. Must be called in the daemon process itself. */
TALLY_MUST_CHECK enum tally_status daemon_server_run(struct daemon_server *server, struct tally_error *err);
void daemon_server_close(struct daemon_server *server);

#endif

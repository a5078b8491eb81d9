/* SPDX-License-Identifier: Apache-2.0 */
/*
 * daemon_socket.h - connects clients to the daemon of a base folder through a stream socket named "control" in that
 * folder. The client sends one line ("ping NAME"); the daemon answers with text and closes the connection.
 */
#ifndef VERBS_DAEMON_DAEMON_SOCKET_H
#define VERBS_DAEMON_DAEMON_SOCKET_H

#include <tally/status.h>

#include "base/text.h"

#define DAEMON_LINE_BYTES 512

/* Creates the server's socket, which only its user can connect to. base may be longer than a socket address allows. */
TALLY_MUST_CHECK enum tally_status daemon_socket_listen(const char *base, int *fd, struct tally_error *err);
/* Removes the socket before the server ends, so that clients find none. */
void daemon_socket_remove(const char *base);
/* Sends line and appends the answer. */
TALLY_MUST_CHECK enum tally_status daemon_socket_ask(
	const char *base, const char *line, struct text *answer, struct tally_error *err);
/* Accepts a connection and reads its line, without the newline, into a buffer of DAEMON_LINE_BYTES. Returns -1 if there
 * is no connection, if no complete line arrives within a second, or if the client is another user (except root). */
int daemon_socket_accept(int listening, char *line);

#endif

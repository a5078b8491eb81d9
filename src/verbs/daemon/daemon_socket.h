/* SPDX-License-Identifier: Apache-2.0 */
/*
 * daemon_socket.h - connects clients to the daemon of a base folder through a stream socket named "control" in that
 * folder. The client sends one line ("ping NAME"); the daemon answers with text and closes the connection.
 */
#ifndef VERBS_DAEMON_DAEMON_SOCKET_H
#define VERBS_DAEMON_DAEMON_SOCKET_H

#include <tally/status.h>

#include "base/text.h"

#define DAEMON_LINE_BYTES 512 /* Maximum length of a line, including its newline. */

/* Creates the server's listening socket, to which only the user of the server can connect. base may be longer than a
 * socket address allows. */
TALLY_MUST_CHECK enum tally_status daemon_socket_listen(const char *base, int *fd, struct tally_error *err);
/* Removes the socket file, so that clients find no socket once the server ends. */
void daemon_socket_remove(const char *base);
/* Sends line to the daemon, and appends its answer. */
TALLY_MUST_CHECK enum tally_status daemon_socket_ask(
	const char *base, const char *line, struct text *answer, struct tally_error *err);
/* Accepts a connection, and reads the line of the client, without the newline, into a buffer of DAEMON_LINE_BYTES.
 * Returns the descriptor of the connection, which the caller closes, or -1 if there is no connection, no complete line
 * arrives within a second, or the client is another user (except root). */
int daemon_socket_accept(int listening, char *line);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * daemon_socket.h - connects the verb to the daemon that runs on a base folder: a stream socket named control in that
 * folder. The client sends one line ("ping NAME"); the daemon answers with text and closes the connection.
 */
#ifndef VERBS_DAEMON_DAEMON_SOCKET_H
#define VERBS_DAEMON_DAEMON_SOCKET_H

#include <tally/status.h>

#include "base/text.h"

#define DAEMON_LINE_BYTES 512

/* Of the server; the socket is only for its user. A path of any length will do. */
TALLY_MUST_CHECK enum tally_status daemon_socket_listen(const char *base, int *fd, struct tally_error *err);
/* Before the server ends: a client finds no socket then. */
void daemon_socket_remove(const char *base);
/* Sends line and appends the answer. */
TALLY_MUST_CHECK enum tally_status daemon_socket_ask(
	const char *base, const char *line, struct text *answer, struct tally_error *err);
/* Takes a connection and reads its line, without the line end, into room of DAEMON_LINE_BYTES. -1: nobody is there, or
 * nothing usable came within a second, or it is another user's. */
int daemon_socket_accept(int listening, char *line);

#endif

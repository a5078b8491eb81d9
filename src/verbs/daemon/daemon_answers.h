/* SPDX-License-Identifier: Apache-2.0 */
/*
 * daemon_answers.h - formats the daemon's responses: the list of sessions, and the results of ping and signal.
 */
#ifndef VERBS_DAEMON_DAEMON_ANSWERS_H
#define VERBS_DAEMON_DAEMON_ANSWERS_H

#include "base/text.h"
#include "verbs/daemon/daemon_state.h"

/* Appends the list of running sessions: with fields separated by separator, or in the readable form of perf if
 * separator is 0. */
void daemon_answer_list(const struct daemon_server *server, char separator, bool is_verbose, struct text *out);
void daemon_answer_json(const struct daemon_server *server, struct text *out);
/* Both daemon_answer_ping and daemon_answer_signal act on the session with this name, or on all sessions if name is
 * "". */
void daemon_answer_ping(struct daemon_server *server, const char *name, struct text *out);
void daemon_answer_signal(struct daemon_server *server, const char *name, struct text *out);

#endif

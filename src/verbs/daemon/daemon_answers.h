/* SPDX-License-Identifier: Apache-2.0 */
/*
 * daemon_answers.h - writes what the daemon answers: the list of sessions, and the results of ping and signal.
 */
#ifndef VERBS_DAEMON_DAEMON_ANSWERS_H
#define VERBS_DAEMON_DAEMON_ANSWERS_H

#include "base/text.h"
#include "verbs/daemon/daemon_state.h"

/* The list's separator; 0: perf's readable form. */
void daemon_answer_list(const struct daemon_server *server, char separator, bool is_verbose, struct text *out);
void daemon_answer_json(const struct daemon_server *server, struct text *out);
/* name empty: all sessions. */
void daemon_answer_ping(struct daemon_server *server, const char *name, struct text *out);
void daemon_answer_signal(struct daemon_server *server, const char *name, struct text *out);

#endif

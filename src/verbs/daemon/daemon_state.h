/* SPDX-License-Identifier: Apache-2.0 */
/*
 * daemon_state.h - defines what a running daemon knows, for the server and for the answers that it gives.
 */
#ifndef VERBS_DAEMON_DAEMON_STATE_H
#define VERBS_DAEMON_DAEMON_STATE_H

#include "base/vec.h"
#include "verbs/daemon/daemon_plan.h"
#include "verbs/daemon/daemon_session.h"

#define DAEMON_WATCHES 3

struct daemon_server {
	const char *program;
	const char *config; /* an absolute path; NULL: the usual files */
	char *base; /* absolute */
	struct daemon_plan plan;
	VEC(struct daemon_session *) sessions; /* in the order of the configuration */
	int lock_fd, listen_fd, signal_fd, watch_fd;
	struct daemon_watched { /* files whose changes are followed, by the folders that have them */
		int watch;
		char *name;
	} watched[DAEMON_WATCHES];
	size_t watched_count;
	uint64_t started_ns;
	bool is_stopping;
	VEC(int) waiting; /* connections that wait for the end */
};

#endif

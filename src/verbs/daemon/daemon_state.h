/* SPDX-License-Identifier: Apache-2.0 */
/*
 * daemon_state.h - defines the state of a running daemon, which the server and the functions that format answers share.
 */
#ifndef VERBS_DAEMON_DAEMON_STATE_H
#define VERBS_DAEMON_DAEMON_STATE_H

#include "base/vec.h"
#include "verbs/daemon/daemon_plan.h"
#include "verbs/daemon/daemon_session.h"

#define DAEMON_WATCHES 3 /* Maximum number of watched configuration files. */

struct daemon_server {
	const char *program;
	const char *config; /* An absolute path; NULL for the default files. */
	char *base; /* Absolute path of the base folder. */
	struct daemon_plan plan;
	VEC(struct daemon_session *) sessions; /* In the order of the configuration. */
	int lock_fd, listen_fd, signal_fd, watch_fd;
	struct daemon_watched { /* A configuration file, observed through an inotify watch of its folder. */
		int watch;
		char *name;
	} watched[DAEMON_WATCHES];
	size_t watched_count;
	uint64_t started_ns; /* Time (clock_ns) of the start. */
	bool is_stopping;
	VEC(int) waiting; /* Connections of clients that wait until the daemon has stopped. */
};

#endif

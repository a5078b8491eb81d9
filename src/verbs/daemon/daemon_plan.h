/* SPDX-License-Identifier: Apache-2.0 */
/*
 * daemon_plan.h - reads the sessions that a daemon runs from configuration files: daemon.base is the base folder, and
 * session-NAME.run the command line of each recording.
 *
 *	struct daemon_plan plan;
 *	status = daemon_plan_read(path, &plan, err);
 *	daemon_plan_deinit(&plan);
 */
#ifndef VERBS_DAEMON_DAEMON_PLAN_H
#define VERBS_DAEMON_DAEMON_PLAN_H

#include "base/arena.h"
#include "base/text.h"
#include "base/vec.h"

struct daemon_planned { /* A session as configured. */
	const char *name;
	const char *run; /* The arguments of record, as one command line. */
};

struct daemon_plan {
	struct arena arena;
	const char *base; /* The base folder; NULL if not set. */
	VEC(struct daemon_planned) sessions; /* In the order of the file. */
};

/* Reads the configuration file path, or /etc/perfconfig and ~/.perfconfig if path is NULL. Returns NOT_FOUND if path
 * does not exist, and INVALID if a file has an invalid line, a session has a name that cannot be the name of a folder,
 * or its command line cannot be split into words. */
TALLY_MUST_CHECK enum tally_status daemon_plan_read(
	const char *path, struct daemon_plan *plan, struct tally_error *err);
/* Returns NULL if there is no such session. */
const struct daemon_planned *daemon_plan_find(const struct daemon_plan *plan, const char *name);
void daemon_plan_deinit(struct daemon_plan *plan);

#endif

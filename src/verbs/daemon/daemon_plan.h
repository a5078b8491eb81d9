/* SPDX-License-Identifier: Apache-2.0 */
/*
 * daemon_plan.h - reads what a daemon is to run from configuration files: daemon.base, and session-NAME.run for each
 * recording.
 *
 *	struct daemon_plan plan;
 *	status = daemon_plan_read(path, &plan, err);   // NULL: /etc/perfconfig and ~/.perfconfig
 *	daemon_plan_deinit(&plan);
 */
#ifndef VERBS_DAEMON_DAEMON_PLAN_H
#define VERBS_DAEMON_DAEMON_PLAN_H

#include "base/arena.h"
#include "base/text.h"
#include "base/vec.h"

struct daemon_planned {
	const char *name;
	const char *run; /* record's command line, without the word record */
};

struct daemon_plan {
	struct arena arena;
	const char *base; /* NULL: not set */
	VEC(struct daemon_planned) sessions; /* in the order of the file */
};

/* NOT_FOUND: there is no such file; CORRUPT: it has an invalid line; INVALID: a session whose name cannot be that of a folder
 * or whose command line cannot be split into words. */
TALLY_MUST_CHECK enum tally_status daemon_plan_read(
	const char *path, struct daemon_plan *plan, struct tally_error *err);
/* NULL: there is no such session. */
const struct daemon_planned *daemon_plan_find(const struct daemon_plan *plan, const char *name);
void daemon_plan_deinit(struct daemon_plan *plan);

#endif

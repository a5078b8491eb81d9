/* SPDX-License-Identifier: Apache-2.0 */
/*
 * spawn.h - starts the measured command stopped before its exec, so that events can be attached first.
 *
 *	spawn_create(argv, &child, err);  ... open events on child.pid with enable_on_exec ...
 *	spawn_start(&child, err);  // it execs now; a failing exec is TALLY_NOT_FOUND/DENIED with the command's name
 *	spawn_wait(&child, &status, &rusage)
 */
#ifndef KERNEL_SYSTEM_SPAWN_H
#define KERNEL_SYSTEM_SPAWN_H

#include <signal.h>
#include <stdbool.h>
#include <sys/resource.h>
#include <sys/types.h>
#include <tally/status.h>

struct spawn {
	pid_t pid; /* -1 once reaped */
	const char *command; /* argv[0], borrowed */
	int go_fd; /* writing a byte lets it exec */
	int failed_fd; /* carries errno of a failed exec; closed on exec */
};

TALLY_MUST_CHECK enum tally_status spawn_create(char *const *argv, struct spawn *child, struct tally_error *err);
/* The same for a caller that blocks signals: the command has this mask instead. */
TALLY_MUST_CHECK enum tally_status spawn_create_with_signals(
	char *const *argv, const sigset_t *mask, struct spawn *child, struct tally_error *err);
TALLY_MUST_CHECK enum tally_status spawn_start(struct spawn *child, struct tally_error *err);
/* Blocks; status as waitpid gives it. */
TALLY_MUST_CHECK enum tally_status spawn_wait(
	struct spawn *child, int *status, struct rusage *usage, struct tally_error *err);
/* Does not block; has_ended says whether status and usage were set. */
TALLY_MUST_CHECK enum tally_status spawn_try_wait(
	struct spawn *child, bool *has_ended, int *status, struct rusage *usage, struct tally_error *err);
/* The status that a shell gives a command that ended this way: its own, or 128 and the number of the signal that ended it. */
int spawn_exit_code(int status);
/* For an error before start: ends and reaps the waiting child. Safe after a failed spawn_start. */
void spawn_cancel(struct spawn *child);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * spawn.h - starts the measured command and holds it before its exec, so that events can be opened on it first.
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
	pid_t pid; /* -1 after it was reaped. */
	const char *command; /* argv[0], borrowed. */
	int go_fd; /* Socket to the child, which execs when it reads a byte. */
	int failed_fd; /* Pipe from the child that carries errno of a failed exec; a successful exec closes it. */
};

/* Forks a child that waits for spawn_start before its exec. */
TALLY_MUST_CHECK enum tally_status spawn_create(char *const *argv, struct spawn *child, struct tally_error *err);
/* Does what spawn_create does, for a caller that blocks signals; mask is the signal mask of the command. */
TALLY_MUST_CHECK enum tally_status spawn_create_with_signals(
	char *const *argv, const sigset_t *mask, struct spawn *child, struct tally_error *err);
/* Lets the child exec. If the exec fails, reaps the child and returns TALLY_NOT_FOUND (ENOENT), TALLY_DENIED (EACCES)
 * or TALLY_IO. */
TALLY_MUST_CHECK enum tally_status spawn_start(struct spawn *child, struct tally_error *err);
/* Waits for the command; status is that of waitpid(2). */
TALLY_MUST_CHECK enum tally_status spawn_wait(
	struct spawn *child, int *status, struct rusage *usage, struct tally_error *err);
/* Does what spawn_wait does, but does not block; *has_ended says whether the command has ended, and only then *status
 * and *usage are set. */
TALLY_MUST_CHECK enum tally_status spawn_try_wait(
	struct spawn *child, bool *has_ended, int *status, struct rusage *usage, struct tally_error *err);
/* Returns the exit status that a shell reports: that of the command, or 128 plus the signal that killed it. */
int spawn_exit_code(int status);
/* Kills and reaps a child that was not started, after an error. Also allowed after a failed spawn_start. */
void spawn_cancel(struct spawn *child);

#endif

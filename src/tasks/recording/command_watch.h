/* SPDX-License-Identifier: Apache-2.0 */
/*
 * command_watch.h - finds the target of a measurement without rings, starts its command stopped, and waits until the
 * command or all threads of the target end, or a signal requests the end. Meanwhile signals do not end the process, so
 * that the caller can undo its changes.
 *
 * The caller owns struct command_watch (command_watch_close, also after a failed open). Not thread-safe.
 *
 *	command_watch_open(&watch, kernel, &request, argv, err);
 *	... watch.target ...
 *	command_watch_start(&watch, err);
 *	while (!watch.is_over) command_watch_wait(&watch, 100, err);
 *	command_watch_close(&watch);
 */
#ifndef TASKS_RECORDING_COMMAND_WATCH_H
#define TASKS_RECORDING_COMMAND_WATCH_H

#include <signal.h>

#include "kernel/system/spawn.h"
#include "kernel/system/target.h"

struct command_watch {
	struct target target; /* For a command, its only thread is the child's PID. */
	struct spawn child;
	bool has_child, child_is_started;
	bool is_over;
	bool has_ended; /* The command has ended, by itself or by a signal. */
	int child_status; /* Status from waitpid; valid if has_ended is set. */
	bool leaves_command; /* Set by the caller if a command that is still running at the end may continue. */
	int signal_fd;
	sigset_t old_mask;
	bool has_mask;
};

/* argv[0] is NULL if there is no command. */
TALLY_MUST_CHECK enum tally_status command_watch_open(struct command_watch *watch, const struct kernel_seam *kernel,
	const struct target_request *request, char **argv, struct tally_error *err);
/* Creates a watch for a target that the caller owns. The watch does not monitor this target; it is over when the
 * command ends or a signal arrives. */
TALLY_MUST_CHECK enum tally_status command_watch_create(
	struct command_watch *watch, char *const *argv, struct target *target, struct tally_error *err);
/* Lets the command exec, if there is one. */
TALLY_MUST_CHECK enum tally_status command_watch_start(struct command_watch *watch, struct tally_error *err);
/* Waits for at most ms milliseconds, and updates is_over. */
TALLY_MUST_CHECK enum tally_status command_watch_wait(struct command_watch *watch, int ms, struct tally_error *err);
/* Checks signals and the command without waiting, for callers that poll watch.signal_fd together with other
 * descriptors. */
TALLY_MUST_CHECK enum tally_status command_watch_look(struct command_watch *watch, struct tally_error *err);
/* Returns the command's exit status as a shell reports it, or 0 if there was no command, or if it was still running at
 * the end. */
int command_watch_exit_code(const struct command_watch *watch);
/* Terminates a command that is still running, and waits for it. */
void command_watch_end(struct command_watch *watch);
/* Returns whether there is a command that had not ended at the last check. */
bool command_watch_still_runs(const struct command_watch *watch);
/* Returns whether the command continues when the watch is closed. */
bool command_watch_leaves_running(const struct command_watch *watch);
/* Also ends the command, unless it is left running. */
void command_watch_close(struct command_watch *watch);

#endif

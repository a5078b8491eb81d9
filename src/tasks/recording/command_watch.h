/* SPDX-License-Identifier: Apache-2.0 */
/*
 * command_watch.h - finds the target of a measurement without rings, starts its command stopped, and waits until the
 * command or all threads of the target end, or a signal asks to end. Signals do not end the process meanwhile, so that
 * the caller can undo what it did.
 *
 * The caller owns it (command_watch_close, also after a failed open). One thread.
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
	struct target target; /* of a command, its PID is the thread */
	struct spawn child;
	bool has_child, child_is_started;
	bool is_over;
	bool has_ended; /* the command, by itself or by a signal of others */
	int child_status; /* as waitpid gives it, of has_ended */
	bool leaves_command; /* the caller sets it: a command that still runs at the end goes on */
	int signal_fd;
	sigset_t old_mask;
	bool has_mask;
};

/* argv[0] NULL: there is no command. */
TALLY_MUST_CHECK enum tally_status command_watch_open(struct command_watch *watch, const struct kernel_seam *kernel,
	const struct target_request *request, char **argv, struct tally_error *err);
/* The same for a target that the caller has found, and of which the watch knows nothing: only the command and signals
 * end it. */
TALLY_MUST_CHECK enum tally_status command_watch_create(
	struct command_watch *watch, char *const *argv, struct target *target, struct tally_error *err);
/* The command, if there is one, execs. */
TALLY_MUST_CHECK enum tally_status command_watch_start(struct command_watch *watch, struct tally_error *err);
/* Returns after the time, or earlier; sets is_over. */
TALLY_MUST_CHECK enum tally_status command_watch_wait(struct command_watch *watch, int ms, struct tally_error *err);
/* Does not wait, and looks only at signals and the command: for callers that wait for watch.signal_fd and more. */
TALLY_MUST_CHECK enum tally_status command_watch_look(struct command_watch *watch, struct tally_error *err);
/* The command's exit status, as a shell gives it; 0: there was none, or it was still running at the end. */
int command_watch_exit_code(const struct command_watch *watch);
/* A command that still runs is told to end, and waited for. */
void command_watch_end(struct command_watch *watch);
/* Whether there is a command that has not ended, as far as the last look tells. */
bool command_watch_still_runs(const struct command_watch *watch);
/* Whether the command goes on when the watch is closed. */
bool command_watch_leaves_running(const struct command_watch *watch);
/* Ends the command too, unless it is left running. */
void command_watch_close(struct command_watch *watch);

#endif

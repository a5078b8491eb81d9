/* SPDX-License-Identifier: Apache-2.0 */
/*
 * live_opening.h - opens the live session of a command line: it plans the recording, makes its events and opens them on
 * all CPUs or on the target that was named. If all CPUs were not asked for by name and the kernel does not allow them,
 * the user's own processes are sampled, and notes say so. top and agent use it.
 *
 * The caller fills the first part, whose pointers are borrowed until close. It prints failures. One thread.
 *
 *	struct live_opening o = {.cli = cli, .command = command, .kernel = kernel, .settings = &settings, .argv = words};
 *	int code = live_opening_open(&o);	// then o.session is open, and not started
 *	live_opening_say_notes(&o);
 *	live_opening_close(&o);	// also after a failure
 */
#ifndef TASKS_SAMPLING_LIVE_OPENING_H
#define TASKS_SAMPLING_LIVE_OPENING_H

#include "cli/cli.h"
#include "kernel/events/tracepoint_hold.h"
#include "tasks/recording/record_options.h"
#include "tasks/sampling/live_session.h"

struct live_opening {
	const struct cli *cli;
	const struct command *command;
	const struct kernel_seam *kernel;
	struct record_settings *settings; /* the target is completed */
	struct record_rate rate; /* as -c, -F and the kernel's bound allow */
	char *const *argv; /* the whole command line */
	const char *purpose; /* "showing": what happens to one's own processes */

	struct record_plan plan;
	struct event_list events;
	struct tracepoint_hold hold;
	struct diag diag; /* notes that were not said yet */
	struct record_request recording;
	struct live_session *session; /* owned; NULL: it is not open */
	char user[16]; /* our own, if all CPUs are not available; else empty */
};

/* 0, or the exit code after a message. */
int live_opening_open(struct live_opening *opening);
/* Prints the notes so far on standard error. */
void live_opening_say_notes(struct live_opening *opening);
void live_opening_close(struct live_opening *opening);
/* Blocks SIGINT and SIGTERM, which end live sampling, and returns a descriptor that can be read when one has come. -1: see
 * errno. */
int live_opening_take_signals(void);

#endif

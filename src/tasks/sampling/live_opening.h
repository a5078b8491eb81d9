/* SPDX-License-Identifier: Apache-2.0 */
/*
 * live_opening.h - opens the live session of a command line: it plans the recording, makes its events and opens them on
 * all CPUs or on the given target. If all CPUs are only the default and the kernel denies them, the user's own
 * processes are sampled, and notes say so. Used by top and agent.
 *
 * The caller fills in the members up to purpose; pointers are borrowed until close. Failures are printed. Not
 * thread-safe.
 *
 *	struct live_opening o = {.cli = cli, .command = command, .kernel = kernel, .settings = &settings, ...};
 *	int code = live_opening_open(&o);	// then o.session is open, but not started
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
	struct record_settings *settings; /* Its target is completed. */
	struct record_rate rate; /* Rate according to -c, -F and the kernel's limit. */
	char *const *argv; /* The whole command line. */
	const char *purpose; /* Verb for messages about the user's own processes, such as "showing". */

	struct record_plan plan;
	struct event_list events;
	struct tracepoint_hold hold;
	struct diag diag; /* Notes that have not been printed yet. */
	struct record_request recording;
	struct live_session *session; /* Owned; NULL if it is not open. */
	char user[16]; /* The user's own ID if all CPUs are not available; otherwise empty. */
};

/* Returns 0, or the exit status after a message. */
int live_opening_open(struct live_opening *opening);
/* Prints the notes so far on standard error. */
void live_opening_say_notes(struct live_opening *opening);
void live_opening_close(struct live_opening *opening);
/* Blocks SIGINT and SIGTERM, which end live sampling, and returns a descriptor that becomes readable when one arrives.
 * Returns -1 and sets errno on failure. */
int live_opening_take_signals(void);

#endif

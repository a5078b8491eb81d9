/* SPDX-License-Identifier: Apache-2.0 */
/*
 * event_errors.h - reports an invalid event as perf does: the text, an arrow, the reason, the usage.
 */
#ifndef TASKS_SESSION_EVENT_ERRORS_H
#define TASKS_SESSION_EVENT_ERRORS_H

#include "cli/cli.h"
#include "cli/commands.h"

/* err from event_parse of text; option is the long name of the option that took it. Returns the exit code. */
int event_error_print(const struct cli *cli, const struct command *command, const char *option, const char *text,
	const struct tally_error *err);
/* The same for a filter on samples. */
int filter_error_print(const struct cli *cli, const struct command *command, const char *option, const char *text,
	const struct tally_error *err);

#endif

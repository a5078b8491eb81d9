/* SPDX-License-Identifier: Apache-2.0 */
/*
 * event_errors.h - reports an invalid event or filter as perf does: the text, an arrow that points to the error, the
 * reason, the usage.
 */
#ifndef TASKS_SESSION_EVENT_ERRORS_H
#define TASKS_SESSION_EVENT_ERRORS_H

#include "cli/cli.h"
#include "cli/commands.h"

/* Reports an error of event_parse for text. option is the long name of the option with this argument. Returns the exit
 * status. */
int event_error_print(const struct cli *cli, const struct command *command, const char *option, const char *text,
	const struct tally_error *err);
/* Reports an error in the filter on samples (event_add_sample_filter) that is in text. Returns the exit status. */
int filter_error_print(const struct cli *cli, const struct command *command, const char *option, const char *text,
	const struct tally_error *err);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record_simulated.h - implements record --simulate, which runs the command under Valgrind and records samples of
 * simulated events.
 *
 *	code = record_simulated_run(&input, &summary);
 */
#ifndef VERBS_RECORD_RECORD_SIMULATED_H
#define VERBS_RECORD_RECORD_SIMULATED_H

#include "tasks/recording/record_options.h"

struct record_simulated_input {
	const struct cli *cli;
	const struct command *verb;
	const struct kernel_seam *kernel;
	const struct record_settings *settings;
	char *const *argv; /* The whole command line. */
	char *const *command; /* NULL if no command was given. */
};

/* Prints errors and notes. Returns 0 or the exit code of a failure. The summary has the command's exit status. */
int record_simulated_run(const struct record_simulated_input *input, struct record_summary *summary);

#endif

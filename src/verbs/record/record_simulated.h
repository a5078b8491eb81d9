/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record_simulated.h - implements record --simulate: runs the command under Valgrind and writes the samples of simulated
 * events.
 *
 *	code = record_simulated_run(cli, command, &settings, argv, words, &summary);
 */
#ifndef VERBS_RECORD_RECORD_SIMULATED_H
#define VERBS_RECORD_RECORD_SIMULATED_H

#include "tasks/recording/record_options.h"

struct record_simulated_input {
	const struct cli *cli;
	const struct command *verb;
	const struct kernel_seam *kernel;
	const struct record_settings *settings;
	char *const *argv; /* the whole command line */
	char *const *command; /* NULL: none was given */
};

/* Prints what there is to say. Returns 0 or the exit code of a failure; the summary says how the command ended. */
int record_simulated_run(const struct record_simulated_input *input, struct record_summary *summary);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * top_run.h - runs top: opens the session, refreshes the profile and displays it. cmd_top.c parses the options.
 *
 * top_run prints failures and returns the exit code. SIGINT and SIGTERM end it with 0.
 *
 *	int code = top_run(&(struct top_run_request){cli, command, kernel, &settings, argv});
 */
#ifndef VERBS_TOP_TOP_RUN_H
#define VERBS_TOP_TOP_RUN_H

#include "cli/cli.h"
#include "verbs/top/top_settings.h"

struct top_run_request {
	const struct cli *cli;
	const struct command *command;
	const struct kernel_seam *kernel;
	struct top_settings *settings; /* Complete except for the target. */
	char *const *argv; /* The whole command line. */
	bool is_interactive; /* Runs on the screen with keys; otherwise prints text. */
};

int top_run(const struct top_run_request *request);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * top_run.h - runs a top command line: opens the session, renews the profile, shows it. It does not parse options;
 * cmd_top.c does.
 *
 * It prints failures and returns the exit code. SIGINT and SIGTERM end it with 0.
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
	struct top_settings *settings; /* completed but for the target */
	char *const *argv; /* the whole command line */
	bool is_interactive; /* by keys on a terminal; else text */
};

int top_run(const struct top_run_request *request);

#endif

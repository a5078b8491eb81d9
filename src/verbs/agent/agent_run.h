/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agent_run.h - runs an agent command line: samples until a signal or the end of the target, and puts out a batch for
 * each window. It does not parse options; cmd_agent.c does.
 *
 * It prints failures and returns the exit code. SIGINT and SIGTERM end it with 0, after the last window was written.
 *
 *	int code = agent_run(&(struct agent_run_request){cli, command, kernel, &settings, argv});
 */
#ifndef VERBS_AGENT_AGENT_RUN_H
#define VERBS_AGENT_AGENT_RUN_H

#include "cli/cli.h"
#include "verbs/agent/agent_settings.h"

struct agent_run_request {
	const struct cli *cli;
	const struct command *command;
	const struct kernel_seam *kernel;
	struct agent_settings *settings; /* completed but for the target */
	char *const *argv; /* the whole command line */
};

int agent_run(const struct agent_run_request *request);

#endif

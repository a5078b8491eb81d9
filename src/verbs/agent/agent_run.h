/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agent_run.h - runs the agent: samples until a signal arrives or the target ends, and outputs a batch for each window.
 * cmd_agent.c parses the options.
 *
 * agent_run prints failures and returns the exit code. SIGINT and SIGTERM end it with 0, after the last window has been
 * written.
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
	struct agent_settings *settings; /* Complete except for the target. */
	char *const *argv; /* The whole command line. */
};

int agent_run(const struct agent_run_request *request);

#endif

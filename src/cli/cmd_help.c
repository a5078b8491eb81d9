/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/help.h"
#include "cli/unknown_command.h"

static const struct option_table help_table = {NULL, 0, true};
static const char *const help_usages[] = {"[COMMAND]", NULL};

static int cmd_help_run(const struct cli *cli, const struct command *command, int argc, char **argv)
{
	int rest;
	int code = cli_parse_options(cli, command, argc, argv, NULL, &rest);
	if (code != CLI_GO_ON)
		return code;
	struct text t = {0};
	if (rest == argc) {
		help_program(&t, cli->program);
	} else {
		const struct command *wanted = command_find(argv[rest]);
		if (!wanted)
			return unknown_command(cli, argv[rest]);
		cli_start_pager(cli);
		help_full(&t, cli->program, wanted);
	}
	return cli_finish_text(cli, &t);
}

const struct command command_help = {
	.name = "help",
	.summary = "Show what a command does and its options",
	.usages = help_usages,
	.options = &help_table,
	.run = cmd_help_run,
};

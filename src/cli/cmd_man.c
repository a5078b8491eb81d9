/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/help.h"
#include "cli/unknown_command.h"

static const struct option_table man_table = {NULL, 0, true};
static const char *const man_usages[] = {"[COMMAND]", NULL};

static int cmd_man_run(const struct cli *cli, const struct command *command, int argc, char **argv)
{
	int rest;
	int code = cli_parse_options(cli, command, argc, argv, NULL, &rest);
	if (code != CLI_GO_ON)
		return code;
	struct text t = {0};
	const char *name = rest < argc ? argv[rest] : "tally";
	const struct command *wanted = command_find(name);
	if (wanted)
		help_man_page(&t, wanted);
	else if (strcmp(name, "tally") == 0)
		help_man_overview(&t);
	else
		return unknown_command(cli, name);
	return cli_finish_text(cli, &t);
}

const struct command command_man = {
	.name = "man",
	.summary = "Print a manual page as roff",
	.usages = man_usages,
	.options = &man_table,
	.description = "Prints the source of the manual page of a command, or of tally itself without one;\n"
		       "`tally man stat | man -l -` shows it. The build installs them all.",
	.run = cmd_man_run,
};

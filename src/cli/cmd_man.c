#include <unistd.h>

#include "cli/cli.h"
#include "cli/help.h"

static const struct option_table table = {NULL, 0, true};
static const char *const usages[] = {"COMMAND", NULL};

static int run(const struct cli *cli, const struct command *command, int argc, char **argv)
{
	int rest;
	int code = cli_parse_options(cli, command, argc, argv, NULL, &rest);
	if (code != CLI_GO_ON)
		return code;
	const struct command *wanted = rest < argc ? command_find(argv[rest]) : NULL;
	if (!wanted)
		return cli_failf(cli, "%s: man needs the name of a command", cli->program);
	struct text t = {0};
	help_man_page(&t, wanted);
	return cli_finish_text(cli, &t);
}

const struct command command_man = {
	.name = "man",
	.summary = "Print the manual page of a command as roff",
	.usages = usages,
	.options = &table,
	.description = "Prints the source of a manual page; `tally man stat | man -l -` shows it. The build installs "
		       "one per command.",
	.run = run,
};

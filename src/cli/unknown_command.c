/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/unknown_command.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/text.h"
#include "cli/cli.h"

#define MAX_COMMANDS 64

int unknown_command(const struct cli *cli, const char *name)
{
	const char *names[MAX_COMMANDS];
	size_t count;
	const struct command *const *commands = commands_all(&count);
	cli_sayf("%s: '%s' is not a %s-command. See '%s --help'.\n", cli->program, name, cli->program, cli->program);
	count = MIN(count, MAX_COMMANDS);
	for (size_t i = 0; i < count; i++)
		names[i] = commands[i]->name;
	size_t nearest = text_nearest(names, count, name);
	if (nearest != SIZE_MAX)
		cli_sayf("\nDid you mean this?\n\t%s\n", names[nearest]);
	return 1;
}

int unknown_subcommand(const struct cli *cli, const struct command *command, const char *name)
{
	char words[200];
	const char *names[MAX_COMMANDS];
	size_t count = 0;
	struct tally_str own = command_subcommands(command);
	snprintf(words, sizeof(words), "%.*s", (int)own.len, own.data ? own.data : "");
	char *rest = words;
	for (char *word; count < MAX_COMMANDS && (word = strsep(&rest, "|"));)
		names[count++] = word;
	size_t nearest = text_nearest(names, count, name);
	if (nearest == SIZE_MAX)
		return cli_usagef(cli, command, NULL, "Unknown command: %s", name);
	return cli_usagef(cli, command, NULL, "Unknown command: %s\n  Did you mean `%s'?", name, names[nearest]);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/commands.h"

#include <string.h>

#include "base/array.h"

#define COMMAND_ADDRESS(name) &command_##name,
static const struct command *const commands[] = {COMMANDS(COMMAND_ADDRESS)};

const struct command *const *commands_all(size_t *count)
{
	*count = ARRAY_LEN(commands);
	return commands;
}

struct tally_str command_subcommands(const struct command *command)
{
	const char *begin = strchr(command->usages[0], '{');
	const char *end = begin ? strchr(begin, '}') : NULL;
	return end ? (struct tally_str){begin + 1, (size_t)(end - begin) - 1} : (struct tally_str){NULL, 0};
}

const struct command *command_find(const char *name)
{
	for (size_t i = 0; i < ARRAY_LEN(commands); i++)
		if (strcmp(commands[i]->name, name) == 0)
			return commands[i];
	return NULL;
}

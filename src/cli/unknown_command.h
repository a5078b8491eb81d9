/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unknown_command.h - reports unknown verbs and subcommands, and suggests the most similar name.
 *
 *	if (!command_find(name))
 *		return unknown_command(cli, name);
 */
#ifndef CLI_UNKNOWN_COMMAND_H
#define CLI_UNKNOWN_COMMAND_H

#include "cli/cli.h"
#include "cli/commands.h"

/* Reports on standard error that there is no such command. Returns the exit code. */
int unknown_command(const struct cli *cli, const char *name);
/* Reports on standard error that the command has no subcommand with this name. Returns the exit code. */
int unknown_subcommand(const struct cli *cli, const struct command *command, const char *name);

#endif

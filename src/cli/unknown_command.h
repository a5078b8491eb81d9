/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unknown_command.h - reports the name of an unknown command, of tally or of one of its commands, with the nearest
 * name.
 *
 *	if (!command_find(name))
 *		return unknown_command(cli, name);
 */
#ifndef CLI_UNKNOWN_COMMAND_H
#define CLI_UNKNOWN_COMMAND_H

#include "cli/cli.h"
#include "cli/commands.h"

/* Says on standard error that there is no such command, and suggests the nearest name; returns the exit code. */
int unknown_command(const struct cli *cli, const char *name);
/* The same for a subcommand, such as that of "sched record". */
int unknown_subcommand(const struct cli *cli, const struct command *command, const char *name);

#endif

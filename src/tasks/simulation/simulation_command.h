/* SPDX-License-Identifier: Apache-2.0 */
/*
 * simulation_command.h - says beforehand whether Valgrind can run a command, and why not: Valgrind's own words for that
 * come late, without the reason, and with an exit status as if they were the command's.
 *
 *	enum tally_status status = simulation_command_check(argv[0], err);
 */
#ifndef TASKS_SIMULATION_SIMULATION_COMMAND_H
#define TASKS_SIMULATION_SIMULATION_COMMAND_H

#include <tally/status.h>

/* A missing command has the message that it has without simulation (NOT_FOUND, DENIED); a program of another machine, or
 * one that changes privileges or cannot be read, is UNSUPPORTED. */
TALLY_MUST_CHECK enum tally_status simulation_command_check(const char *command, struct tally_error *err);

#endif

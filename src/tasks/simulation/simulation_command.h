/* SPDX-License-Identifier: Apache-2.0 */
/*
 * simulation_command.h - checks in advance whether Valgrind can run a command: Valgrind's own message comes late,
 * without the reason, and with an exit status that looks like the command's.
 *
 *	enum tally_status status = simulation_command_check(argv[0], err);
 */
#ifndef TASKS_SIMULATION_SIMULATION_COMMAND_H
#define TASKS_SIMULATION_SIMULATION_COMMAND_H

#include <tally/status.h>

/* Returns UNSUPPORTED for a program of another machine, and for one that changes privileges or cannot be read. If the
 * command does not exist or may not be executed, returns the same error as without simulation (NOT_FOUND, DENIED). */
TALLY_MUST_CHECK enum tally_status simulation_command_check(const char *command, struct tally_error *err);

#endif

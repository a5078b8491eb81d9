/* SPDX-License-Identifier: Apache-2.0 */
/*
 * simulation_messages.h - converts the messages that Valgrind left in the folder of a simulation to diagnostics.
 *
 * Valgrind writes a file for each process. There are separate sentences for instructions that Valgrind does not know,
 * and for commands that did not start; otherwise the first line of the message is reported.
 */
#ifndef TASKS_SIMULATION_SIMULATION_MESSAGES_H
#define TASKS_SIMULATION_SIMULATION_MESSAGES_H

#include <sys/types.h>

#include "base/bytes.h"
#include "base/diag.h"

#define SIMULATION_MESSAGES_PREFIX "messages." /* The process's ID follows. */

/* Returns UNSUPPORTED with Valgrind's message if the command has no stream, which means that it did not start. */
TALLY_MUST_CHECK enum tally_status simulation_messages_check_start(
	const char *folder, pid_t pid, const char *command, struct tally_error *err);
/* notes may be NULL. */
void simulation_messages_add(const char *folder, struct diag *notes);
/* Handles the messages of one process; text is not trusted. Adds nothing if they only report that a signal ended the
 * process. */
void simulation_messages_note(struct diag *notes, const char *process, struct tally_str text);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * simulation_messages.h - turns the messages that Valgrind left in the folder of a simulation into ours.
 *
 * Valgrind writes a file per process. An instruction that Valgrind does not know, and a command that did not begin, have
 * sentences of our own; of other messages the first line is told.
 */
#ifndef TASKS_SIMULATION_SIMULATION_MESSAGES_H
#define TASKS_SIMULATION_SIMULATION_MESSAGES_H

#include <sys/types.h>

#include "base/bytes.h"
#include "base/diag.h"

#define SIMULATION_MESSAGES_PREFIX "messages." /* and the process's ID */

/* UNSUPPORTED if the command has no stream, which means that it did not begin; with what Valgrind said of it. */
TALLY_MUST_CHECK enum tally_status simulation_messages_check_start(
	const char *folder, pid_t pid, const char *command, struct tally_error *err);
/* notes may be NULL. */
void simulation_messages_add(const char *folder, struct diag *notes);
/* One process's messages; text is foreign. Nothing is added if they only tell that a signal ended the process. */
void simulation_messages_note(struct diag *notes, const char *process, struct tally_str text);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record_commands.h - executes the commands of --control on a running recording, and reports them.
 *
 * Everything is borrowed from the session. Not thread-safe.
 *
 *	struct record_commands c = {request, recorder, waits, &control, false};
 *	status = record_commands_obey(&c, &is_open, err);
 *	if (c.wants_stop) ...
 */
#ifndef TASKS_RECORDING_RECORD_COMMANDS_H
#define TASKS_RECORDING_RECORD_COMMANDS_H

#include "kernel/recording/recorder.h"
#include "tasks/recording/record_control.h"
#include "tasks/recording/record_request.h"

struct record_commands {
	const struct record_request *request;
	struct recorder *recorder;
	struct record_waits *waits; /* NULL if waits are not recorded. */
	struct record_control *control;
	bool wants_stop; /* Set by record_commands_obey if the recording has to stop. */
};

/* Passes a formatted message about the running recording to request->announce, if that is not NULL. */
void record_announce(const struct record_request *request, const char *format, ...) TALLY_PRINTF(2, 3);
/* Enables or disables the event with this name, and reports it. An empty name stands for all events except the one that
 * tracks processes. */
TALLY_MUST_CHECK enum tally_status record_set_running(const struct record_request *request, struct recorder *recorder,
	struct record_waits *waits, struct tally_str event, bool is_running, struct tally_error *err);
/* Executes all pending commands. Sets is_open to whether the other side is still connected. */
TALLY_MUST_CHECK enum tally_status record_commands_obey(
	struct record_commands *commands, bool *is_open, struct tally_error *err);

#endif

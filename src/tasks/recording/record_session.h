/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record_session.h - makes one recording from start to end: command, target, recorder, file. It connects the modules of
 * record.
 *
 * It prints nothing: notes go to diag, the result to the summary, and errors to err. Options are not interpreted here.
 * Not thread-safe. While it runs, SIGINT, SIGTERM, SIGHUP, SIGCHLD, SIGPIPE and SIGUSR2 are blocked and received
 * through a descriptor.
 *
 *	struct record_summary summary;
 *	status = record_session_run(&request, &summary, err);
 *	... report the result ...
 *	record_session_unblock(&summary);
 */
#ifndef TASKS_RECORDING_RECORD_SESSION_H
#define TASKS_RECORDING_RECORD_SESSION_H

#include "tasks/recording/record_request.h"

/* On failure the summary still contains the status of the child. The signals that end a recording stay blocked, so that
 * the result can be reported; record_session_unblock must be called afterwards. */
TALLY_MUST_CHECK enum tally_status record_session_run(
	const struct record_request *request, struct record_summary *summary, struct tally_error *err);

void record_session_unblock(struct record_summary *summary);

#endif

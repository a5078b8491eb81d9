/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record_session.h - makes one recording from start to end: command, target, recorder, file. The wiring of record.
 *
 * It prints nothing itself: notes go to diag, the outcome to the summary, a failure to err. Options are not interpreted
 * here. Threads: one. Signals: SIGINT, SIGTERM and SIGCHLD are taken through a descriptor while it runs.
 *
 *	struct record_summary summary;
 *	status = record_session_run(&request, &summary, err);
 */
#ifndef TASKS_RECORDING_RECORD_SESSION_H
#define TASKS_RECORDING_RECORD_SESSION_H

#include "tasks/recording/record_request.h"

/* On failure the summary still says how the child ended. The signals that end a recording stay blocked, so that its
 * outcome can be reported; call record_session_unblock after that. */
TALLY_MUST_CHECK enum tally_status record_session_run(
	const struct record_request *request, struct record_summary *summary, struct tally_error *err);

void record_session_unblock(struct record_summary *summary);

#endif

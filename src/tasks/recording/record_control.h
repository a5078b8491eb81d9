/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record_control.h - implements --control: it receives commands for a running recording through a descriptor or a FIFO,
 * and answers them.
 *
 * A command is a line (the last one may lack its newline); every known command is answered with "ack\n" and a NUL byte,
 * as perf does. The session executes the commands. Given descriptors are borrowed; FIFOs are opened and closed here.
 * Not thread-safe.
 *
 *	record_control_parse("fifo:ctl,ack", &spec);  record_control_open(&spec, &control, err);
 *	record_control_read(&control);
 *	while (record_control_next(&control, &command)) { ...; record_control_acknowledge(&control); }
 */
#ifndef TASKS_RECORDING_RECORD_CONTROL_H
#define TASKS_RECORDING_RECORD_CONTROL_H

#include <stdbool.h>
#include <tally/status.h>

#include "base/text.h"

#define RECORD_CONTROL_BYTES 4096 /* Size of the command buffer; a longer line is split into several. */

struct record_control_spec {
	bool is_given, is_fifo;
	int control_fd, ack_fd; /* -1 if not given. */
	struct tally_str control_path, ack_path; /* Borrowed from the text; ack_path is empty if not given. */
};

enum record_command {
	COMMAND_UNKNOWN,
	COMMAND_ENABLE,
	COMMAND_DISABLE,
	COMMAND_SNAPSHOT,
	COMMAND_EVLIST,
	COMMAND_STOP,
	COMMAND_PING,
};

struct record_control_line {
	enum record_command command;
	struct tally_str argument; /* Valid until the next call of record_control_next or record_control_read. */
};

struct record_control {
	int control_fd, ack_fd; /* -1 if not open. */
	bool owns_fds;
	char room[RECORD_CONTROL_BYTES];
	struct tally_str rest; /* The part of room that has not been parsed yet. */
	bool may_have_more; /* The last read filled the room, so its last line may be incomplete. */
};

/* Returns false if the text has neither of the forms fd:ctl[,ack] and fifo:ctl[,ack]. */
bool record_control_parse(const char *text, struct record_control_spec *spec);
/* If spec->is_given is false, creates a control without a descriptor. */
TALLY_MUST_CHECK enum tally_status record_control_open(
	const struct record_control_spec *spec, struct record_control *control, struct tally_error *err);
void record_control_close(struct record_control *control);
/* Reads pending bytes. Returns false if the other side has closed, so that there is no need to wait for it any more. */
bool record_control_read(struct record_control *control);
bool record_control_next(struct record_control *control, struct record_control_line *line);
void record_control_acknowledge(const struct record_control *control);

#endif

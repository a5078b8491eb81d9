/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record_opening.h - opens the sources of a recording: it finds the target, opens its events and rings, and describes
 * the processes that already run. Record and top use it.
 *
 * The caller owns it (record_opening_close, also after a failure); request and child stay the caller's. Between the two
 * steps, the caller sets a command's child as the target's first thread.
 *
 *	struct record_opening o = {.request = &request};
 *	status = record_opening_find(&o, err);   ... o.target.threads[0] = child.pid ...
 *	status = record_opening_open(&o, err);   record_opening_describe(&o, &sink, synth, false, err);
 *	record_opening_close(&o);
 */
#ifndef TASKS_RECORDING_RECORD_OPENING_H
#define TASKS_RECORDING_RECORD_OPENING_H

#include "perfdata/writer.h"
#include "tasks/recording/record_filters.h"
#include "tasks/recording/record_python.h"
#include "tasks/recording/record_request.h"
#include "tasks/recording/record_walks.h"

struct record_opening {
	struct binary_kept kept; /* what the request holds */
	const struct record_request *request;
	struct target target; /* whom to record */
	struct recorder *recorder;
	struct record_filters *filters; /* NULL: no event has one on its samples */
	struct record_waits *waits; /* NULL: waits are not recorded */
	struct record_walks *walks; /* NULL: stacks are not walked in the kernel */
	struct record_python python; /* names of Python frames */
	struct record_live *live; /* NULL: records are taken from the rings as they are */
};

TALLY_MUST_CHECK enum tally_status record_opening_find(struct record_opening *o, struct tally_error *err);
TALLY_MUST_CHECK enum tally_status record_opening_open(struct record_opening *o, struct tally_error *err);
/* Writes records of running processes and of the target. before_exec: only the name of the command is known. */
TALLY_MUST_CHECK enum tally_status record_opening_describe(struct record_opening *o, const struct record_sink *sink,
	struct record_synth synth, bool before_exec, struct tally_error *err);
/* Writes records of threads of the target that appeared later. */
TALLY_MUST_CHECK enum tally_status record_opening_describe_threads(struct record_opening *o,
	const struct record_sink *sink, const pid_t *threads, size_t count, struct tally_error *err);
/* Adds the events as they were opened, with all their ids. */
TALLY_MUST_CHECK enum tally_status record_opening_add_events(const struct record_request *request,
	struct recorder *recorder, struct perfdata_writer *writer, struct tally_error *err);
void record_opening_close(struct record_opening *o);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record_opening.h - opens the sources of a recording: it finds the target, opens its events and rings, and describes
 * the running processes. Used by record and top.
 *
 * The caller owns struct record_opening (record_opening_close, also after a failure), request and child. Between the
 * two steps, the caller sets the target's first thread to the child of a command.
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
	struct binary_kept kept; /* Finds the files that the request keeps open. */
	const struct record_request *request;
	struct target target;
	struct recorder *recorder;
	struct record_filters *filters; /* NULL if no event has a filter on its samples. */
	struct record_waits *waits; /* NULL if waits are not recorded. */
	struct record_walks *walks; /* NULL if stacks are not unwound in the kernel. */
	struct record_python python; /* Names of Python frames. */
	struct record_live *live; /* NULL if records are written as they are in the rings. */
};

TALLY_MUST_CHECK enum tally_status record_opening_find(struct record_opening *o, struct tally_error *err);
TALLY_MUST_CHECK enum tally_status record_opening_open(struct record_opening *o, struct tally_error *err);
/* Writes records of running processes and of the target. If before_exec is set, only the name of the command is
 * known. */
TALLY_MUST_CHECK enum tally_status record_opening_describe(struct record_opening *o, const struct record_sink *sink,
	struct record_synth synth, bool before_exec, struct tally_error *err);
/* Writes records of threads of the target that appeared later. */
TALLY_MUST_CHECK enum tally_status record_opening_describe_threads(struct record_opening *o,
	const struct record_sink *sink, const pid_t *threads, size_t count, struct tally_error *err);
/* Adds the events as they were opened, with all their IDs. */
TALLY_MUST_CHECK enum tally_status record_opening_add_events(const struct record_request *request,
	struct recorder *recorder, struct perfdata_writer *writer, struct tally_error *err);
void record_opening_close(struct record_opening *o);

#endif

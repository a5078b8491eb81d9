/* SPDX-License-Identifier: Apache-2.0 */
/*
 * live_rings.h - passes the records of the kernel to a verb live, in time order, without a file: it opens the events of
 * a request with their rings, starts the command, waits, and counts losses. Used by lock, trace and kvm.
 *
 * The caller owns struct live_rings and the source, which borrows from it and must be closed first. It must not be
 * moved. Not thread-safe. SIGINT, SIGTERM and other signals that request the end set rings.watch.is_over, and do not
 * end the program.
 *
 *	live_rings_init(&rings, &(struct live_rings_user){cli, &source, take, context});
 *	rings.request.target = ...; rings.request.events = &events; ...
 *	status = live_rings_open(&rings, err);   live_rings_add_state(&rings, synth, err);
 *	status = live_rings_open_source(&rings, &input, err);
 *	status = recorder_enable(rings.opening.recorder, err);   command_watch_start(&rings.watch, err);
 *	while (status == TALLY_OK && !rings.watch.is_over) {
 *		status = live_rings_wait(&rings, 100, err);
 *		live_rings_drain(&rings, false, err);
 *	}
 *	recorder_disable(...);   live_rings_drain(&rings, true, err);   live_rings_count_lost(&rings);
 *	live_rings_close(&rings);	// also after a failure
 */
#ifndef TASKS_SAMPLING_LIVE_RINGS_H
#define TASKS_SAMPLING_LIVE_RINGS_H

#include "perfdata/writer.h"
#include "tasks/recording/command_watch.h"
#include "tasks/recording/record_opening.h"
#include "tasks/recording/ring_merge.h"
#include "tasks/session/data_source.h"

struct live_rings_user {
	const struct cli *cli;
	struct data_source *source; /* Opened by live_rings_open_source. */
	/* Receives each record in time order. */
	enum tally_status (*take)(void *context, const struct record *record, struct tally_error *err);
	void *context;
};

struct live_rings {
	struct live_rings_user user;
	struct record_request request; /* The caller fills in the remaining members before live_rings_open. */
	struct diag diag; /* Notes that have not been printed yet. */
	struct record_opening opening;
	struct command_watch watch;
	struct writer beginning; /* Beginning of a recording for the source: the events, and the initial state. */
	size_t state_at; /* Offset of the initial state. */
	struct ring_merge merge;
};

/* Sets the request's kernel seam to this machine's kernel, and its diag. */
void live_rings_init(struct live_rings *rings, const struct live_rings_user *user);
/* Appends the events in words to the request's list. */
TALLY_MUST_CHECK enum tally_status live_rings_add_events(
	struct live_rings *rings, const char *words, struct tally_error *err);
/* Finds the target, creates the command, which does not run yet, and opens the events. From now on signals are only
 * noted. */
TALLY_MUST_CHECK enum tally_status live_rings_open(struct live_rings *rings, struct tally_error *err);
/* Adds the running processes, for the source and for live_rings_each_state. */
TALLY_MUST_CHECK enum tally_status live_rings_add_state(
	struct live_rings *rings, struct record_synth synth, struct tally_error *err);
/* Calls take for each record of the state that live_rings_add_state has added. Ends with the first status other than
 * TALLY_OK. */
TALLY_MUST_CHECK enum tally_status live_rings_each_state(const struct live_rings *rings,
	enum tally_status (*take)(void *context, const struct record *record, const struct record_fields *fields,
		struct tally_error *err),
	void *context, struct tally_error *err);
/* Opens the source with the events and the state. No state may be added afterwards. */
TALLY_MUST_CHECK enum tally_status live_rings_open_source(
	struct live_rings *rings, const struct data_input *input, struct tally_error *err);
/* Returns the time by which the source sorts the record. */
uint64_t live_rings_time_of(const struct live_rings *rings, const struct record *record);

/* Waits for records or a signal, for at most ms milliseconds. Sets watch.is_over if a signal has arrived, or if the
 * command or all threads of the target have ended. */
TALLY_MUST_CHECK enum tally_status live_rings_wait(struct live_rings *rings, int ms, struct tally_error *err);
/* Passes on the records that cannot be preceded by later ones, or all of them if is_last is set. */
TALLY_MUST_CHECK enum tally_status live_rings_drain(struct live_rings *rings, bool is_last, struct tally_error *err);
/* Adds the numbers of lost and damaged records to the source's health. Must be called once, after the last drain. */
void live_rings_count_lost(struct live_rings *rings);

/* Prints the notes so far on standard error. */
void live_rings_say_notes(struct live_rings *rings);
void live_rings_close(struct live_rings *rings);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wait_events.h - finds the events of a recording that make a wall-clock profile, and the state that a sample's thread
 * was in.
 *
 * A wall-clock profile needs an event of a CPU clock, with periods in ns on the CPU, and the event offcpu-time, with
 * periods in ns off the CPU. tally's samples of the latter have raw data (abi/wait_record.h) with the state of the
 * thread; perf's have none, so their state is not known. Pure functions; the result borrows nothing.
 *
 *	struct wait_events waits = wait_events_find(reader, WAITS_IF_WALL);
 *	if (waits.are_joined) ...	a sample of waits.wait counts as one of waits.clock
 */
#ifndef ANALYSIS_WAIT_EVENTS_H
#define ANALYSIS_WAIT_EVENTS_H

#include "abi/wait_record.h"
#include "analysis/replay_options.h"
#include "perfdata/reader.h"
#include "profile/profile.h"

#define WAIT_EVENT_NONE	 UINT32_MAX
#define WALL_CLOCK_EVENT "wall-clock" /* Name of both events when they are merged. */
#define WAIT_NOT_TOLD	 PROFILE_STATE_NOT_TOLD /* Off the CPU for an unknown reason. */

struct wait_events {
	uint32_t clock, wait; /* Indexes of events; WAIT_EVENT_NONE if there is no such event. */
	bool was_wall; /* The recording was made with --wall. */
	bool has_records; /* Samples have raw data with states and wakers. */
	bool are_joined; /* Samples of the event `wait` count as samples of the event `clock`. */
};

/* Finds the events among those known so far; call it for a pipe when all of it has been read. */
struct wait_events wait_events_find(struct perfdata_reader *reader, enum replay_waits wanted);
/* Returns whether this is the event offcpu-time, whose samples are waits. */
bool wait_event_is(const struct perfdata_event *event);
/* Returns false if the sample is not a wait, or has no raw data that describes it. */
bool wait_sample_decode(const struct perfdata_event *event, const struct sample *sample, struct wait_record *wait);
/* Returns whether the sample is the sum of several waits. */
bool wait_sample_is_sum(const struct perfdata_event *event, const struct sample *sample);
/* Returns the sample's time, or, for a sum without a time, the time of its end. */
uint64_t wait_sample_time(const struct perfdata_event *event, const struct sample *sample);
/* Returns an enum wait_state: WAIT_RUNNING for samples of other events, WAIT_NOT_TOLD if the state was not recorded. */
unsigned wait_sample_state(const struct perfdata_event *event, const struct sample *sample);
struct tally_str wait_sample_state_name(unsigned state);
/* Appends "comm:tid" of the thread that ended the wait, "[interrupt]", or "-" if there is no waker or it is not
 * known. */
void wait_sample_waker(const struct perfdata_event *event, const struct sample *sample, struct text *out);

#endif

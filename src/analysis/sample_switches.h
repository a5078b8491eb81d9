/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sample_switches.h - selects the samples between an occurrence of one event and the next occurrence of another
 * (--switch-on, --switch-off).
 *
 * Owned by the caller; immutable once read, so any thread may use it. A sample is looked up by its time and its
 * position among samples of the same time, or only by its position if the recording has no times.
 *
 *	sample_switches_read(&switches, reader, &run, &(struct sample_switch_source){&events, spans, &clock}, err);
 *	if (sample_switches_want(&switches, order, position)) ...
 *	sample_switches_deinit(&switches);
 */
#ifndef ANALYSIS_SAMPLE_SWITCHES_H
#define ANALYSIS_SAMPLE_SWITCHES_H

#include "analysis/record_run.h"
#include "analysis/replay_options.h"
#include "analysis/sample_clock.h"
#include "base/vec.h"
#include "perfdata/reader.h"

struct sample_switch {
	uint64_t order, position;
	bool is_on; /* The new state. */
};

struct sample_switches {
	VEC(struct sample_switch) changes; /* In order of time and position; each one changes the state. */
	bool begins_off, shows; /* shows: the samples that switch are selected too. */
};

struct sample_switch_source {
	const struct replay_switches *events;
	const struct time_spans *spans; /* Samples outside these spans do not switch; NULL for no restriction. */
	const struct sample_clock *clock; /* Clock for the times of the samples. */
};

/* Must be followed by sample_switches_deinit also after a failure. */
TALLY_MUST_CHECK enum tally_status sample_switches_read(struct sample_switches *s, const struct perfdata_reader *reader,
	const struct record_run *run, const struct sample_switch_source *source, struct tally_error *err);
/* Sorts the collected changes, and drops those without effect. */
void sample_switches_settle(struct sample_switches *s);
void sample_switches_deinit(struct sample_switches *s);
/* Returns whether samples after the last change are selected. */
bool sample_switches_end_on(const struct sample_switches *s);
bool sample_switches_want(const struct sample_switches *s, uint64_t order, uint64_t position);

#endif

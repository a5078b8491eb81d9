/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sample_clock.h - determines the time of a sample, which is needed to look up its thread and mappings.
 *
 * Usually this is the sample's own time. If an event was recorded without times alongside events with times, its
 * samples get the time of the last record before them in the file that has one; this mostly comes from the same CPU,
 * because rings are read in turn. If records of mappings and names have no times either, the position in the run serves
 * as the clock of all records.
 *
 * Workers collect marks in parts of the run, which are added in order; from then on any thread may look up times.
 *
 *	sample_clock_init(&clock, reader);
 *	if (clock.is_mixed) sample_clock_note(&marks, reader, &record, position) ...
 *	sample_clock_take(&clock, &marks) ...
 *	order = sample_clock_at(&clock, event, position, sample.time);
 */
#ifndef ANALYSIS_SAMPLE_CLOCK_H
#define ANALYSIS_SAMPLE_CLOCK_H

#include "base/vec.h"
#include "perfdata/reader.h"

struct clock_mark {
	size_t position;
	uint64_t time_ns;
};

struct clock_marks {
	/* In order of position: each record with a time that is the last one before records without a time. */
	VEC(struct clock_mark) items;
	/* The last record with a time; its position is SIZE_MAX if there is none or if it already is in items. */
	struct clock_mark last;
};

#define CLOCK_MARKS_NONE ((struct clock_marks){.last.position = SIZE_MAX})

struct sample_clock {
	bool is_position; /* Positions serve as times. */
	bool is_mixed; /* Some events have no times; marks provide them. */
	VEC(struct clock_mark) marks;
};

void sample_clock_init(struct sample_clock *clock, const struct perfdata_reader *reader);
void sample_clock_deinit(struct sample_clock *clock);
/* Collects the mark of the next record in a part of the run. Returns false when out of memory. */
TALLY_MUST_CHECK bool sample_clock_note(
	struct clock_marks *marks, const struct perfdata_reader *reader, const struct record *record, size_t position);
/* Appends the marks of the next part and its last time. Returns false when out of memory. */
TALLY_MUST_CHECK bool sample_clock_take(struct sample_clock *clock, const struct clock_marks *marks);
/* Returns the time of a sample in a recording in which only some events have times. */
uint64_t sample_clock_of_event(
	const struct sample_clock *clock, const struct perfdata_event *event, size_t position, uint64_t time_ns);
/* Returns the time of a sample of the event at a position of the run. time_ns is the sample's own time, if the event
 * has times. */
static inline uint64_t sample_clock_at(
	const struct sample_clock *clock, const struct perfdata_event *event, size_t position, uint64_t time_ns)
{
	if (clock->is_mixed)
		return sample_clock_of_event(clock, event, position, time_ns);
	return clock->is_position ? position : time_ns;
}

#endif

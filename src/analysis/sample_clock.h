/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sample_clock.h - determines the time of a sample, which is needed to look up its thread and mappings.
 *
 * Usually this is the sample's own time. If an event was recorded without times next to others with times, its samples
 * get the time of the last record before them in the file that has one; it mostly comes from the same CPU, because
 * rings are read in turn. If records of mappings and names have no times either, the position in the run serves as the
 * clock of all records.
 *
 * Marks are collected in parts of the run, by their workers, and added in order; from then on any thread may ask.
 *
 *	sample_clock_init(&clock, reader);
 *	if (clock.is_mixed) sample_clock_note(&marks, reader, &record, position) ...   sample_clock_take(&clock, &marks) ...
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
	VEC(struct clock_mark) items; /* by position: the last record with a time before records without */
	struct clock_mark last; /* the last record with a time; position SIZE_MAX: none, or already an item */
};

#define CLOCK_MARKS_NONE ((struct clock_marks){.last.position = SIZE_MAX})

struct sample_clock {
	bool is_position; /* the position is the time */
	bool is_mixed; /* some events have no time; marks tell theirs */
	VEC(struct clock_mark) marks;
};

void sample_clock_init(struct sample_clock *clock, const struct perfdata_reader *reader);
void sample_clock_deinit(struct sample_clock *clock);
/* Notes the next record of a part of the run. False: out of memory. */
TALLY_MUST_CHECK bool sample_clock_note(
	struct clock_marks *marks, const struct perfdata_reader *reader, const struct record *record, size_t position);
/* Appends the marks of the next part, and its last time. False: out of memory. */
TALLY_MUST_CHECK bool sample_clock_take(struct sample_clock *clock, const struct clock_marks *marks);
/* The time of a sample in a recording in which only some events have times. */
uint64_t sample_clock_of_event(
	const struct sample_clock *clock, const struct perfdata_event *event, size_t position, uint64_t time_ns);
/* The time of a sample of the event at a position of the run. time is the sample's own, if the event has times. */
static inline uint64_t sample_clock_at(
	const struct sample_clock *clock, const struct perfdata_event *event, size_t position, uint64_t time_ns)
{
	if (clock->is_mixed)
		return sample_clock_of_event(clock, event, position, time_ns);
	return clock->is_position ? position : time_ns;
}

#endif

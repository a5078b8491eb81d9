/* SPDX-License-Identifier: Apache-2.0 */
/*
 * script_counters.h - prints how many events a CPU with branch counters counted between two branches, in the form of
 * `perf script -F brcntr`: a letter for each occurrence of an event ("AAA+BC"), or the events' names and numbers.
 *
 * The reader is borrowed. Not thread-safe.
 *
 *	script_counters_init(&counters, reader, false);
 *	script_counters_print_key(&counters, &text);	// "# cycles = A\n..."
 *	script_counters_print(&counters, &text, event, 0x1b);	// "AAA+BB"
 */
#ifndef VERBS_SCRIPT_SCRIPT_COUNTERS_H
#define VERBS_SCRIPT_SCRIPT_COUNTERS_H

#include "base/text.h"
#include "perfdata/reader.h"

struct script_counters {
	const struct perfdata_reader *reader;
	unsigned width; /* Bits of each counter; 0 if the recording does not specify it. */
	bool has_numbers; /* Prints numbers instead of letters. */
};

/* Returns whether the event's attr requests branch counters. */
bool script_counters_event_has(const struct perfdata_event *event);
void script_counters_init(struct script_counters *counters, const struct perfdata_reader *reader, bool has_numbers);
/* Prints which event each letter stands for; nothing with has_numbers. */
void script_counters_print_key(const struct script_counters *counters, struct text *t);
/* event is the event of the sample. word contains the counters of one branch for the events of the group, beginning at
 * the lowest bits. */
void script_counters_print(
	const struct script_counters *counters, struct text *t, const struct perfdata_event *event, uint64_t word);

#endif

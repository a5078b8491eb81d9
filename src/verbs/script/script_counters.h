/* SPDX-License-Identifier: Apache-2.0 */
/*
 * script_counters.h - prints the events that CPUs with branch counters counted between branches, in the form of `perf
 * script -F brcntr`: a letter for each occurrence of an event ("AAA+BC"), or the events' names and numbers.
 *
 * Borrows the reader. One thread.
 *
 *	script_counters_init(&counters, reader, false, err);
 *	script_counters_print_key(&counters, &text);	// "# cycles = A\n..."
 *	script_counters_print(&counters, &text, event, 0x1b);	// "AAA+BB"
 */
#ifndef VERBS_SCRIPT_SCRIPT_COUNTERS_H
#define VERBS_SCRIPT_SCRIPT_COUNTERS_H

#include "base/text.h"
#include "perfdata/reader.h"

struct script_counters {
	const struct perfdata_reader *reader;
	unsigned width; /* bits of each counter; 0: the recording does not say */
	bool has_numbers; /* rather than letters */
};

/* Whether the event's attr requests counters. */
bool script_counters_event_has(const struct perfdata_event *event);
void script_counters_init(struct script_counters *counters, const struct perfdata_reader *reader, bool has_numbers);
/* What the letters mean; nothing with numbers. */
void script_counters_print_key(const struct script_counters *counters, struct text *t);
/* event: whose sample it is; word: of one branch, the counters of the event's group from the lowest bits up. */
void script_counters_print(
	const struct script_counters *counters, struct text *t, const struct perfdata_event *event, uint64_t word);

#endif

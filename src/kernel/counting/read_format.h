/* SPDX-License-Identifier: Apache-2.0 */
/*
 * read_format.h - decodes what read(2) of an event returned, by the event's read_format.
 *
 * Pure; the words are in the byte order of the machine. Source: perf_event_open(2), "Reading results".
 */
#ifndef KERNEL_COUNTING_READ_FORMAT_H
#define KERNEL_COUNTING_READ_FORMAT_H

#include <tally/fd.h>

/* Number of words that suffices for a group of this many events in any format. */
#define READING_WORDS(events) (3 + 3 * (events))

/* Decodes count words of a reading in this format (PERF_FORMAT_... bits); 0 words mean that a pinned event is in the
 * error state. values receives the counts of up to room events. Returns TALLY_LIMIT if there are more events than room,
 * and TALLY_CORRUPT if there are fewer words than the format requires. */
TALLY_MUST_CHECK enum tally_status reading_decode(const uint64_t *words, size_t count, uint64_t format,
	struct tally_reading *reading, struct tally_reading_value *values, size_t room);

#endif

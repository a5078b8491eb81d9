/* SPDX-License-Identifier: Apache-2.0 */
/*
 * health.h - assesses the state of a recording: where it ends, what is lost, damaged or not understood, and how long
 * events were throttled or multiplexed.
 *
 * Reads all records once, in file order. The caller owns the result; names of events borrow from the reader. A
 * truncated or damaged recording is not an error; the result describes it. One thread.
 *
 *	recording_health_read(reader, &health, err);   ...   recording_health_deinit(&health);
 */
#ifndef ANALYSIS_HEALTH_H
#define ANALYSIS_HEALTH_H

#include "base/map_u64.h"
#include "base/vec.h"
#include "perfdata/reader.h"

/* Number of equal parts of the time from the first record to the last; enough to show when losses happened. */
#define HEALTH_SLICES	   10
#define HEALTH_KNOWN_TYPES 128 /* Record types below this number are counted by type. */

struct health_event { /* Counts of one event. */
	uint64_t samples;
	/* Lost samples, each counted once: the event's own count if the kernel has one, otherwise the count of its
	 * rings. */
	uint64_t lost;
	/* From LOST_SAMPLES records, and from LOST records, in which one event reports for all events of its ring. */
	uint64_t lost_by_count, lost_by_ring;
	uint64_t throttles, throttled_ns;
	/* Sums of the last readings of all counters of the event; enabled_ns is 0 if no times were recorded. */
	uint64_t enabled_ns, running_ns;
	uint64_t full_chains; /* Call chains that have the maximum number of frames, so they are probably cut. */
	uint64_t full_stacks; /* Stack dumps that filled their maximum size, so they are probably cut. */
};

/* A record that reports lost events, and their number. */
struct health_loss {
	uint64_t time_ns, lost;
	bool has_time;
};

struct recording_health {
	struct input_health input; /* Its lost_*, throttled and unordered counts are computed by this walk. */
	struct tally_error end; /* Why the recording ends early; its status is TALLY_OK if it is complete. */
	uint64_t by_type[HEALTH_KNOWN_TYPES], other_types;
	uint64_t first_ns, last_ns; /* Times of the earliest and the latest record, valid if has_times is set. */
	bool has_times;
	bool counts_by_event; /* The kernel reports losses both per event (LOST_SAMPLES) and per ring (LOST). */
	VEC(struct health_event) events;
	VEC(struct health_loss) losses;
	uint64_t lost_by_slice[HEALTH_SLICES], lost_without_time, lost_without_event;
	uint64_t throttled_to_the_end; /* Number of THROTTLE records without a following UNTHROTTLE. */
	uint64_t aux_truncated; /* Number of AUX records with the flag for truncated data. */
	uint32_t least_unknown_type; /* Lowest record type that is not known; UINT32_MAX if all are known. */
};

TALLY_MUST_CHECK enum tally_status recording_health_read(
	struct perfdata_reader *reader, struct recording_health *health, struct tally_error *err);
void recording_health_deinit(struct recording_health *health);
/* Returns whether the recording is complete, undamaged and without losses. */
bool recording_health_is_good(const struct recording_health *health);
/* Returns whether the recorder did not finish, or files of a directory recording are missing. */
bool recording_health_is_unfinished(const struct recording_health *health);
bool recording_health_is_damaged(const struct recording_health *health);
uint64_t recording_health_lost(const struct recording_health *health);

#endif

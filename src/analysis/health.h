/* SPDX-License-Identifier: Apache-2.0 */
/*
 * health.h - assesses the state of a recording: where it ends, what is lost, damaged or not understood, and how long
 * events were throttled or multiplexed.
 *
 * One walk over all records in file order. The result is the caller's; names of events borrow from the reader. A
 * truncated or damaged recording is not a failure here; the result describes it. One thread.
 *
 *	recording_health_read(reader, &health, err);   ...   recording_health_deinit(&health);
 */
#ifndef ANALYSIS_HEALTH_H
#define ANALYSIS_HEALTH_H

#include "base/map_u64.h"
#include "base/vec.h"
#include "perfdata/reader.h"

#define HEALTH_SLICES	   10 /* parts of the time from the first record to the last: enough to see when losses happened */
#define HEALTH_KNOWN_TYPES 128 /* record types that are counted one by one */

struct health_event { /* by index of the event */
	uint64_t samples;
	uint64_t lost; /* each loss counted once: by the event's own count if the kernel has one, else by its rings */
	uint64_t lost_by_count,
		lost_by_ring; /* from LOST_SAMPLES; from LOST, which one event reports for all events of its ring */
	uint64_t throttles, throttled_ns;
	uint64_t enabled_ns, running_ns; /* of its last readings; enabled 0: none was recorded */
	uint64_t full_chains; /* call chains of as many frames as were allowed */
	uint64_t full_stacks; /* stack dumps that used all the room they had */
};

struct health_loss {
	uint64_t time_ns, lost;
	bool has_time;
};

struct recording_health {
	struct input_health input; /* its lost_*, throttled and unordered are of this walk */
	struct tally_error end; /* status OK: the recording is complete */
	uint64_t by_type[HEALTH_KNOWN_TYPES], other_types;
	uint64_t first_ns, last_ns; /* times of records; has_times: any has one */
	bool has_times;
	bool counts_by_event; /* losses are in LOST and in LOST_SAMPLES */
	VEC(struct health_event) events;
	VEC(struct health_loss) losses;
	uint64_t lost_by_slice[HEALTH_SLICES], lost_without_time, lost_without_event;
	uint64_t throttled_to_the_end; /* THROTTLE records without an UNTHROTTLE */
	uint64_t aux_truncated; /* AUX records with the flag for truncated data */
	uint32_t least_unknown_type; /* UINT32_MAX: none */
};

TALLY_MUST_CHECK enum tally_status recording_health_read(
	struct perfdata_reader *reader, struct recording_health *health, struct tally_error *err);
void recording_health_deinit(struct recording_health *health);
/* Whether the recording is complete, undamaged and without losses. */
bool recording_health_is_good(const struct recording_health *health);
/* Its recorder did not finish, or files of its directory are missing. */
bool recording_health_is_unfinished(const struct recording_health *health);
bool recording_health_is_damaged(const struct recording_health *health);
uint64_t recording_health_lost(const struct recording_health *health);

#endif

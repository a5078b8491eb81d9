/* SPDX-License-Identifier: Apache-2.0 */
/*
 * input_health.h - counts what a recording lost and which parts could not be read; the counts accompany every result.
 */
#ifndef PERFDATA_INPUT_HEALTH_H
#define PERFDATA_INPUT_HEALTH_H

#include <stdbool.h>
#include <stdint.h>

#include "base/array.h"

struct damaged_records {
	uint64_t count;
	uint64_t offset; /* of the first in the recording; 0: not known */
	uint32_t type; /* its type */
};

static inline void damaged_records_add(struct damaged_records *d, uint64_t offset, uint32_t type)
{
	d->count++;
	if (d->offset == 0 || offset < d->offset) {
		d->offset = offset;
		d->type = type;
	}
}

static inline void damaged_records_merge(struct damaged_records *d, const struct damaged_records *more)
{
	uint64_t sum = d->count + more->count;
	if (more->offset > 0)
		damaged_records_add(d, more->offset, more->type);
	d->count = sum;
}

struct input_health { /* what was lost, cut or not understood; travels with every result */
	uint64_t records, samples, bytes;
	uint64_t counts; /* STAT records that were read one by one */
	uint64_t compressed[2]; /* COMPRESSED and COMPRESSED2 records, whose contents are counted in records */
	uint64_t lost_events; /* sum of LOST */
	uint64_t lost_samples; /* sum of LOST_SAMPLES, without filtered_samples */
	uint64_t filtered_samples; /* LOST_SAMPLES that say that a filter on samples dropped them: nothing is missing */
	uint64_t lost_records; /* number of LOST records: chunks */
	uint64_t throttled; /* THROTTLE records */
	uint64_t unknown_records, unknown_features, damaged_features;
	struct damaged_records damaged;
	uint64_t unattributed_samples; /* id of no event */
	uint64_t attr_excess_bytes;
	uint64_t untimed_jitdumps; /* of generated code, whose times are of another clock than the recording's */
	uint64_t trace_bytes; /* of hardware traces, after AUXTRACE records; tally does not decode them */
	uint32_t trace_type; /* of the last AUXTRACE_INFO */
	uint64_t unordered; /* records that came after their round was flushed */
	bool is_unfinished; /* its recorder did not finish: killed, or out of memory or disk */
	uint64_t missing_parts; /* files of a directory: missing, or shorter than the recorder left them */
	bool is_cut;
	uint64_t cut_offset;
	uint32_t cut_record_bytes; /* in the header at cut_offset; UINT32_MAX: that is incomplete */
};

/* Since Linux 6.0 the kernel counts a loss twice, for the ring and for the event, so that it is in both sums. */
static inline uint64_t input_health_lost(const struct input_health *health)
{
	return MAX(health->lost_events, health->lost_samples);
}

#endif

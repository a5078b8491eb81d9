/* SPDX-License-Identifier: Apache-2.0 */
/*
 * input_health.h - counts lost data and unreadable parts of a recording; the counts accompany every result.
 */
#ifndef PERFDATA_INPUT_HEALTH_H
#define PERFDATA_INPUT_HEALTH_H

#include <stdbool.h>
#include <stdint.h>

#include "base/array.h"

/* The number of damaged records, and the first one in the file. */
struct damaged_records {
	uint64_t count;
	uint64_t offset; /* File offset of the first one; 0 if unknown. */
	uint32_t type; /* Type of the first one. */
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

struct input_health { /* Numbers of records, and of what was lost, truncated or not understood. */
	uint64_t records, samples, bytes;
	uint64_t counts; /* Number of STAT records. */
	/* Numbers of COMPRESSED and COMPRESSED2 records; the records in them are counted in records. */
	uint64_t compressed[2];
	uint64_t lost_events; /* Sum of the LOST records. */
	uint64_t lost_samples; /* Sum of the LOST_SAMPLES records, without filtered_samples. */
	/* Sum of the LOST_SAMPLES records for samples that a filter dropped; these are no losses. */
	uint64_t filtered_samples;
	uint64_t lost_records; /* Number of LOST records, which perf calls chunks. */
	uint64_t throttled; /* Number of THROTTLE records. */
	uint64_t unknown_records, unknown_features, damaged_features;
	struct damaged_records damaged;
	uint64_t unattributed_samples; /* Samples with an ID that no event has. */
	uint64_t attr_excess_bytes; /* Bytes of attrs beyond the known fields. */
	uint64_t untimed_jitdumps; /* Jitdumps with times of another clock than that of the recording. */
	uint64_t trace_bytes; /* Size of the hardware traces after AUXTRACE records, which tally does not decode. */
	uint32_t trace_type; /* Type in the last AUXTRACE_INFO. */
	/* Number of records that could not be sorted by time, because they came after the end of their round. */
	uint64_t unordered;
	bool is_unfinished; /* The recorder did not finish: it was killed, or ran out of memory or disk space. */
	uint64_t missing_parts; /* Files of a directory that are missing or shorter than the recorder wrote them. */
	bool is_cut; /* The recording is truncated. */
	uint64_t cut_offset; /* Offset of the incomplete record. */
	/* Size in the record header at cut_offset; UINT32_MAX if the header is incomplete. */
	uint32_t cut_record_bytes;
};

/* Returns the number of lost events. Since Linux 6.0 the kernel reports a loss both for the ring buffer and for the
 * event, so each sum contains it. */
static inline uint64_t input_health_lost(const struct input_health *health)
{
	return MAX(health->lost_events, health->lost_samples);
}

#endif

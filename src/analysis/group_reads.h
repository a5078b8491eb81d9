/* SPDX-License-Identifier: Apache-2.0 */
/*
 * group_reads.h - splits a sample that read its group (PERF_SAMPLE_READ) into one sample for each event whose count has
 * changed since the last read, with the change as its period.
 *
 * The caller owns the totals (all zero to start, group_reads_deinit) and feeds samples in the order they are to count
 * in.
 *
 *	uint64_t position = 0;
 *	while ((status = group_reads_next(&reads, reader, &sample, &position, &one)) == TALLY_OK) use(one.event, one.grown);
 */
#ifndef ANALYSIS_GROUP_READS_H
#define ANALYSIS_GROUP_READS_H

#include "abi/sample.h"
#include "base/id_table.h"
#include "base/vec.h"
#include "perfdata/reader.h"

struct group_reads {
	struct id_table counters; /* event id, thread or 0 */
	VEC(uint64_t) totals; /* of each: the last value read */
	uint64_t unattributed; /* values with an id that belongs to no event */
};

struct group_read {
	const struct perfdata_event *event;
	uint64_t id;
	uint64_t grown; /* never 0 */
};

void group_reads_deinit(struct group_reads *reads);
/* The next event of the sample's group whose count has grown; *position is 0 at first. END: none is left; NOMEM. */
TALLY_MUST_CHECK enum tally_status group_reads_next(struct group_reads *reads, struct perfdata_reader *reader,
	const struct sample *sample, uint64_t *position, struct group_read *out);

#endif

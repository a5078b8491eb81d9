/* SPDX-License-Identifier: Apache-2.0 */
/*
 * group_reads.h - splits a sample that read its group (PERF_SAMPLE_READ) into one sample for each event with a changed
 * count since the last read; the change is the sample's period.
 *
 * The caller owns the totals (zero-initialised; freed by group_reads_deinit) and feeds samples in the order of the
 * recording.
 *
 *	uint64_t position = 0;
 *	while ((status = group_reads_next(&reads, reader, &sample, &position, &one)) == TALLY_OK)
 *		use(one.event, one.grown);
 */
#ifndef ANALYSIS_GROUP_READS_H
#define ANALYSIS_GROUP_READS_H

#include "abi/sample.h"
#include "base/id_table.h"
#include "base/vec.h"
#include "perfdata/reader.h"

struct group_reads {
	/* Keys of two words: ID of the event, and the thread if the event is inherited, otherwise 0. */
	struct id_table counters;
	VEC(uint64_t) totals; /* Last value read from each counter. */
	uint64_t unattributed; /* Number of values with an ID that belongs to no event. */
};

struct group_read {
	const struct perfdata_event *event;
	uint64_t id;
	uint64_t grown; /* Increase since the last read; never 0. */
};

void group_reads_deinit(struct group_reads *reads);
/* Stores the next event of the sample's group with an increased count in *out; *position must be 0 at first. Returns
 * TALLY_END if there are no more events, or TALLY_NOMEM. */
TALLY_MUST_CHECK enum tally_status group_reads_next(struct group_reads *reads, struct perfdata_reader *reader,
	const struct sample *sample, uint64_t *position, struct group_read *out);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * parallelism.h - counts how many of the recorded threads ran at a time, from context switches and thread exits.
 *
 * Owned by the caller; immutable once read, so any thread may use it. One thread is assumed to run when the recording
 * starts. The count is at least one, because a sampled thread runs.
 *
 *	parallelism_read(&p, reader, &run, err);
 *	count = parallelism_at(&p, sample.time);
 *	parallelism_deinit(&p);
 */
#ifndef ANALYSIS_PARALLELISM_H
#define ANALYSIS_PARALLELISM_H

#include "analysis/record_run.h"
#include "base/vec.h"
#include "perfdata/reader.h"

struct parallelism_change {
	uint64_t time_ns;
	int64_t count; /* Number of running threads from this time on. */
};

struct parallelism {
	VEC(struct parallelism_change) changes; /* Sorted by time. */
};

/* Fails only with TALLY_NOMEM. */
TALLY_MUST_CHECK enum tally_status parallelism_read(struct parallelism *p, const struct perfdata_reader *reader,
	const struct record_run *run, struct tally_error *err);
void parallelism_deinit(struct parallelism *p);
uint32_t parallelism_at(const struct parallelism *p, uint64_t time_ns);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wait_index.h - indexes the waits of a recording by thread and time, with the names of the threads that ended them, so
 * that wake-ups can be traced back.
 *
 * It leaves out sums of waits, which have no single time, and the times in which a thread was runnable but did not run.
 * Read by one thread, then immutable, so any thread may use it.
 *
 *	wait_index_read(&index, &(struct wait_index_source){reader, &run, waits.wait}, err);
 *	for (at = wait_index_last(&index, tid, end_ns); at && at->tid == tid && at->end_ns > start_ns;
 *		at = wait_index_before(&index, at))
 *	wait_index_deinit(&index);
 */
#ifndef ANALYSIS_WAIT_INDEX_H
#define ANALYSIS_WAIT_INDEX_H

#include "analysis/record_run.h"
#include "analysis/wait_events.h"
#include "base/intern.h"
#include "base/vec.h"

struct wait_interval {
	int32_t tid;
	uint64_t start_ns, end_ns;
	size_t position; /* Position of the sample in the run. */
};

struct wait_index {
	VEC(struct wait_interval) waits; /* Sorted by thread, then by end. */
	struct intern wakers; /* Names such as "[woken by comm]". */
	uint32_t event; /* Index of the event of waits; WAIT_EVENT_NONE if there is none. */
};

struct wait_index_source {
	struct perfdata_reader *reader;
	const struct record_run *run;
	uint32_t event; /* Index of the event of waits. */
};

TALLY_MUST_CHECK enum tally_status wait_index_read(
	struct wait_index *index, const struct wait_index_source *source, struct tally_error *err);
void wait_index_deinit(struct wait_index *index);
/* Returns the number of the wait's waker in wakers; INTERN_NONE if it is not known. */
uint32_t wait_index_waker(const struct wait_index *index, const struct wait_record *wait);
/* Returns the thread's last wait that ended at this time or earlier; NULL if there is none. */
const struct wait_interval *wait_index_last(const struct wait_index *index, int32_t tid, uint64_t end_ns);
/* Returns the thread's preceding wait; NULL if there is none. */
const struct wait_interval *wait_index_before(const struct wait_index *index, const struct wait_interval *wait);

#endif

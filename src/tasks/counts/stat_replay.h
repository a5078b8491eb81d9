/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stat_replay.h - reads the counts of a recording that 'stat record' of tally or perf has made, and passes them on as
 * values of struct stat_report (for stat report).
 *
 * show is called once for each round of counts: for each interval with the counts since the previous one, and at the
 * end with the totals. The report is valid only during the call. Counts may be aggregated in another way than when they
 * were recorded, because the recording describes its machine. Invalid records (unknown IDs, CPUs, threads) are ignored.
 */
#ifndef TASKS_COUNTS_STAT_REPLAY_H
#define TASKS_COUNTS_STAT_REPLAY_H

#include "perfdata/reader.h"
#include "tasks/counts/stat_report.h"

/* Count of one counter since the start of the measurement. */
struct stat_replay_count {
	const char *event;
	int cpu; /* -1 for any CPU. */
	pid_t thread; /* -1 for all threads. */
	struct count count;
	uint64_t time_ns; /* Time of the round. */
};

struct stat_replay_request {
	struct perfdata_reader *reader;
	bool has_mode; /* Uses mode and cache_level instead of the recorded ones. */
	enum aggregation_mode mode;
	unsigned cache_level; /* 0 for the last level. */
	void (*show)(void *context, const struct stat_report *report);
	/* If not NULL, called for each counter in each round, instead of show. */
	void (*count)(void *context, const struct stat_replay_count *count);
	void *context;
};

/* Returns TALLY_NOT_FOUND if the recording has no counts. */
TALLY_MUST_CHECK enum tally_status stat_replay(const struct stat_replay_request *request, struct tally_error *err);

#endif

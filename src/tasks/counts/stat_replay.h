/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stat_replay.h - reads the counts of a recording by stat record, ours or perf's, as stat_reports (stat report).
 *
 * show is called once per round: per interval with the differences, at the end with the totals. Its argument is valid
 * during the call. Counts may be aggregated in another way than when they were recorded, because the recording
 * describes its machine. Invalid records (unknown IDs, CPUs, threads) are left out.
 */
#ifndef TASKS_COUNTS_STAT_REPLAY_H
#define TASKS_COUNTS_STAT_REPLAY_H

#include "perfdata/reader.h"
#include "tasks/counts/stat_report.h"

struct stat_replay_count { /* of one counter, since the start */
	const char *event;
	int cpu; /* -1: any */
	pid_t thread; /* -1: all */
	struct count count;
	uint64_t time_ns; /* of the round */
};

struct stat_replay_request {
	struct perfdata_reader *reader;
	bool has_mode; /* mode and cache_level instead of the recorded ones */
	enum aggregation_mode mode;
	unsigned cache_level; /* 0: the last */
	void (*show)(void *context, const struct stat_report *report);
	void (*count)(void *context, const struct stat_replay_count *
					     count); /* called for each counter instead of show; NULL: show is called */
	void *context;
};

/* A recording without counts: TALLY_NOT_FOUND. */
TALLY_MUST_CHECK enum tally_status stat_replay(const struct stat_replay_request *request, struct tally_error *err);

#endif

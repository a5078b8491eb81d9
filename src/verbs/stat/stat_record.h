/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stat_record.h - implements stat record: it writes counts into perf.data, as stat report of perf and tally read them.
 *
 * Owned by the caller (stat_record_deinit). begin is called once the counters are open, round after each reading of
 * them: counts are cumulative since the start. One thread.
 *
 *	stat_record_open(&r, "perf.data", argv, err);
 *	stat_record_begin(&r, counting, set, err); stat_record_round(&r, set, is_final, time_ns, err); ...
 *	stat_record_close(&r, err); stat_record_deinit(&r);
 */
#ifndef VERBS_STAT_STAT_RECORD_H
#define VERBS_STAT_STAT_RECORD_H

#include "perfdata/writer.h"
#include "tasks/recording/record_features.h"
#include "verbs/stat/stat_settings.h"

struct stat_record {
	char *const *argv; /* the whole command line; borrowed */
	struct perfdata_writer *writer;
	int pipe_fd; /* of a stream; -1: a file is written */
	struct record_features features;
	bool has_begun;
	const struct stat_origin *origin; /* of the counts; NULL: perf events */
	uint64_t *first_ids; /* per event: the id of its first counter, the others follow; 0: not supported */
};

/* An existing file is kept as PATH.old. A stream (stream_output.h) is written front to back. */
TALLY_MUST_CHECK enum tally_status stat_record_open(
	struct stat_record *r, const char *path, char *const *argv, struct tally_error *err);
TALLY_MUST_CHECK enum tally_status stat_record_begin(struct stat_record *r, const struct stat_counting *counting,
	const struct counter_set *set, struct tally_error *err);
/* is_final: the totals of the whole run, not one of its intervals. */
TALLY_MUST_CHECK enum tally_status stat_record_round(
	struct stat_record *r, const struct counter_set *set, bool is_final, uint64_t time_ns, struct tally_error *err);
TALLY_MUST_CHECK enum tally_status stat_record_close(struct stat_record *r, struct tally_error *err);
void stat_record_deinit(struct stat_record *r);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stat_record.h - implements stat record, which writes counts to perf.data, for stat report of perf and tally.
 *
 * The caller owns the structure (stat_record_deinit), calls stat_record_begin once the counters are open, and
 * stat_record_round whenever they have been read. Counts are cumulative since the start. Not thread-safe.
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
	char *const *argv; /* The whole command line; borrowed. */
	struct perfdata_writer *writer;
	int pipe_fd; /* The output if it is a stream; -1 if it is a file. */
	struct record_features features;
	bool has_begun;
	const struct stat_origin *origin; /* Origin of the counts; NULL for perf events. */
	uint64_t *first_ids; /* ID of each event's first counter, which the others follow; 0 if not supported. */
};

/* Creates the output path; an existing file is renamed to PATH.old. If path is a stream (stream_output.h), it is
 * written sequentially. */
TALLY_MUST_CHECK enum tally_status stat_record_open(
	struct stat_record *r, const char *path, char *const *argv, struct tally_error *err);
TALLY_MUST_CHECK enum tally_status stat_record_begin(struct stat_record *r, const struct stat_counting *counting,
	const struct counter_set *set, struct tally_error *err);
/* Writes the set's current counts. is_final: they are the totals of the whole run, not those of an interval. */
TALLY_MUST_CHECK enum tally_status stat_record_round(
	struct stat_record *r, const struct counter_set *set, bool is_final, uint64_t time_ns, struct tally_error *err);
TALLY_MUST_CHECK enum tally_status stat_record_close(struct stat_record *r, struct tally_error *err);
void stat_record_deinit(struct stat_record *r);

#endif

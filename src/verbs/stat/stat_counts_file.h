/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stat_counts_file.h - reads the counts in a file that stat --simulate -j -o has written: one JSON object per line.
 *
 * Only simulated counts are taken: others vary from run to run. A file may have the counts of several benchmarks, which
 * --name has named. Members that are not needed may have any value. The
 * caller owns the counts (stat_counts_file_deinit).
 *
 *	struct stat_counts_file file = {0};
 *	if (stat_counts_file_read("before.json", &file, err) == TALLY_OK && (row = stat_counts_file_find(&file, "", STR("instructions"))))
 */
#ifndef VERBS_STAT_STAT_COUNTS_FILE_H
#define VERBS_STAT_STAT_COUNTS_FILE_H

#include <tally/status.h>

#include "base/bytes.h"
#include "base/vec.h"
#include "tasks/counts/stat_environment.h"

#define STAT_COUNTS_NAME_BYTES 96
#define STAT_COUNTS_BY_BYTES   512

struct stat_counts_file {
	VEC(struct stat_counts_row {
		char benchmark[STAT_COUNTS_NAME_BYTES]; /* of --name; "": none */
		char event[STAT_COUNTS_NAME_BYTES]; /* without the modifier :u */
		double value; /* the mean of the runs */
		double deviation; /* of the runs; 0: they agree, or there was one */
		uint64_t runs; /* 1 if it is not told */
		bool is_counted;
	})
	rows;
	char by[STAT_COUNTS_BY_BYTES]; /* what simulated them; "": no row */
	char fault
		[STAT_COUNTS_BY_BYTES]; /* why some of the counts are not to be relied on: runs that failed, or a warning; "" */
	struct stat_environment environment; /* of the first row that has it */
	bool has_environment;
};

TALLY_MUST_CHECK enum tally_status stat_counts_file_read(
	const char *path, struct stat_counts_file *file, struct tally_error *err);
/* CORRUPT with the line's number: no JSON. INVALID: counts that were not simulated, or none. */
TALLY_MUST_CHECK enum tally_status stat_counts_file_parse(
	struct tally_str text, struct stat_counts_file *file, struct tally_error *err);
/* The count of an event; benchmark "": of a benchmark without a name. NULL: the file does not have one. */
const struct stat_counts_row *stat_counts_file_find(
	const struct stat_counts_file *file, const char *benchmark, struct tally_str event);
void stat_counts_file_deinit(struct stat_counts_file *file);

#endif

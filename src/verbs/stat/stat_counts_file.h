/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stat_counts_file.h - reads the counts from a file written by stat --simulate -j -o: one JSON object per line.
 *
 * Only simulated counts are accepted, because others vary from run to run. A file may have the counts of several
 * benchmarks, distinguished by --name. Members that are not needed may have any value. The caller owns the counts
 * (stat_counts_file_deinit).
 *
 *	struct stat_counts_file file = {0};
 *	if (stat_counts_file_read("before.json", &file, err) == TALLY_OK)
 *		row = stat_counts_file_find(&file, "", STR("instructions"));
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
		char benchmark[STAT_COUNTS_NAME_BYTES]; /* The argument of --name, or "". */
		char event[STAT_COUNTS_NAME_BYTES]; /* Without the modifier :u. */
		double value; /* Mean of the runs. */
		double deviation; /* Deviation of the runs; 0 if they agree or there was only one. */
		uint64_t runs; /* 1 if the file does not specify it. */
		bool is_counted;
	})
	rows;
	char by[STAT_COUNTS_BY_BYTES]; /* Name of the simulator; "" if there are no rows. */
	/* The reason why some counts are unreliable, such as failed runs or a warning; "" if there is none. */
	char fault[STAT_COUNTS_BY_BYTES];
	struct stat_environment environment; /* From the first row that has one. */
	bool has_environment;
};

/* Adds the counts in the file path. Returns an error if the file cannot be read, and the errors of
 * stat_counts_file_parse. */
TALLY_MUST_CHECK enum tally_status stat_counts_file_read(
	const char *path, struct stat_counts_file *file, struct tally_error *err);
/* Adds the counts in text. Returns CORRUPT with a line number if a line is not valid, and INVALID if counts are not
 * simulated or there are none. */
TALLY_MUST_CHECK enum tally_status stat_counts_file_parse(
	struct tally_str text, struct stat_counts_file *file, struct tally_error *err);
/* Returns the row of an event, or NULL if there is none; valid until rows are added. benchmark "" selects the benchmark
 * without a name. */
const struct stat_counts_row *stat_counts_file_find(
	const struct stat_counts_file *file, const char *benchmark, struct tally_str event);
void stat_counts_file_deinit(struct stat_counts_file *file);

#endif

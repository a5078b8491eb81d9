/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stat_counts_file.h - reads the counts in a file that stat --simulate -j -o has written: one JSON object per line.
 *
 * Only simulated counts are taken: others vary from run to run. Members that are not needed may have any value. The
 * caller owns the counts (stat_counts_file_deinit).
 *
 *	struct stat_counts_file file = {0};
 *	if (stat_counts_file_read("before.json", &file, err) == TALLY_OK && stat_counts_file_find(&file, "instructions", &value))
 */
#ifndef VERBS_STAT_STAT_COUNTS_FILE_H
#define VERBS_STAT_STAT_COUNTS_FILE_H

#include <tally/status.h>

#include "base/bytes.h"
#include "base/vec.h"

#define STAT_COUNTS_NAME_BYTES 96
#define STAT_COUNTS_BY_BYTES   512

struct stat_counts_file {
	VEC(struct stat_counts_row {
		char event[STAT_COUNTS_NAME_BYTES]; /* without the modifier :u */
		double value;
		bool is_counted;
	})
	rows;
	char by[STAT_COUNTS_BY_BYTES]; /* what simulated them; "": no row */
};

TALLY_MUST_CHECK enum tally_status stat_counts_file_read(
	const char *path, struct stat_counts_file *file, struct tally_error *err);
/* CORRUPT with the line's number: no JSON. INVALID: counts that were not simulated, or none. */
TALLY_MUST_CHECK enum tally_status stat_counts_file_parse(
	struct tally_str text, struct stat_counts_file *file, struct tally_error *err);
/* False: the file does not have a count of the event. */
bool stat_counts_file_find(const struct stat_counts_file *file, struct tally_str event, double *value);
void stat_counts_file_deinit(struct stat_counts_file *file);

#endif

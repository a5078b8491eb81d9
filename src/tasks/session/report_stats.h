/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report_stats.h - counts a recording's records for `report --stats` and per thread for `report -T`.
 *
 * It reads from the first record on (a pipe must not have been read), and appends to the caller's text.
 *
 *	status = report_stats(&out, NULL, reader, false, true, err);
 */
#ifndef TASKS_SESSION_REPORT_STATS_H
#define TASKS_SESSION_REPORT_STATS_H

#include "base/json.h"
#include "perfdata/reader.h"

/* Counts records by type and samples by event. The text includes types that do not occur if with_zeros is set, and the
 * lost samples of each event if tells_losses is set. If j is not NULL, the result is its member "stats" instead of
 * text. */
TALLY_MUST_CHECK enum tally_status report_stats(struct text *out, struct json *j, struct perfdata_reader *reader,
	bool with_zeros, bool tells_losses, struct tally_error *err);
/* Prints the counts that threads had when they ended, summed by thread and event: to out as text or, if j is not NULL,
 * to j as its member "threads". If raw is set, prints one line of numbers for each thread and event. */
TALLY_MUST_CHECK enum tally_status report_read_values(
	struct text *out, struct json *j, struct perfdata_reader *reader, bool raw, struct tally_error *err);

#endif

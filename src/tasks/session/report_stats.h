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

/* Counts records by type and samples by event. with_zeros: the text also has types that do not occur. tells_losses:
 * also the lost samples of each event. The result is the member "stats" of j, or text if j is NULL; the same holds
 * below. */
TALLY_MUST_CHECK enum tally_status report_stats(struct text *out, struct json *j, struct perfdata_reader *reader,
	bool with_zeros, bool tells_losses, struct tally_error *err);
/* The counts that threads had when they ended, summed by thread and event. raw: one line of numbers for each. */
TALLY_MUST_CHECK enum tally_status report_read_values(
	struct text *out, struct json *j, struct perfdata_reader *reader, bool raw, struct tally_error *err);

#endif

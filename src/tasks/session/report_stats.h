/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report_stats.h - counts a recording's records for `report --stats` and per thread for `report -T`.
 *
 * Reads the reader from its first record on (a pipe must not have been read); appends to a text of the caller's.
 *
 *	status = report_stats(&out, NULL, reader, false, true, err);
 */
#ifndef TASKS_SESSION_REPORT_STATS_H
#define TASKS_SESSION_REPORT_STATS_H

#include "base/json.h"
#include "perfdata/reader.h"

/* Records by type, samples by event. with_zeros: types that do not occur as well, in text; tells_losses: the lost samples
 * of each event too. With j as its member "stats", else as text; so below. */
TALLY_MUST_CHECK enum tally_status report_stats(struct text *out, struct json *j, struct perfdata_reader *reader,
	bool with_zeros, bool tells_losses, struct tally_error *err);
/* The counts that threads had when they ended, summed by thread and event. raw: one line of numbers for each. */
TALLY_MUST_CHECK enum tally_status report_read_values(
	struct text *out, struct json *j, struct perfdata_reader *reader, bool raw, struct tally_error *err);

#endif

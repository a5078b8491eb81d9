/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report_tasks.h - implements `report --tasks` and `--mmaps`, which print the threads of a recording as a tree, and the
 * mappings of each process.
 *
 * As in perf, the output is the state at the end of the recording: every thread that a record mentions, with the newest
 * child of a parent last. The reader is read once, from its first record on. Output is text if j is NULL.
 *
 *	status = report_tasks(&out, NULL, reader, with_mmaps, err);
 */
#ifndef VERBS_REPORT_REPORT_TASKS_H
#define VERBS_REPORT_REPORT_TASKS_H

#include "base/json.h"
#include "perfdata/reader.h"

TALLY_MUST_CHECK enum tally_status report_tasks(
	struct text *out, struct json *j, struct perfdata_reader *reader, bool with_mmaps, struct tally_error *err);

#endif

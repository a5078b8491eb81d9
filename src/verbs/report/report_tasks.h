/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report_tasks.h - `report --tasks` and `--mmaps`: the threads of a recording as a tree, and what each had mapped.
 *
 * Shows how things were at the recording's end, as perf does: every thread that a record spoke of, the newest child of
 * a parent last. Reads the reader once from its first record on.
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

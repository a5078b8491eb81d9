/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report_tasks.h - implements `report --tasks` and `--mmaps`: it prints the threads of a recording as a tree, and what
 * each had mapped.
 *
 * As in perf, it shows the state at the end of the recording: every thread that a record mentions, with the newest
 * child of a parent last. It reads the reader once, from the first record on.
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

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * header_json.h - prints the header of a recording as JSON: who recorded what, where and when (report --json --header).
 * See docs/schema/report.json.
 *
 *	header_json(&j, reader, false);	// "header": {"hostname": ..., ...}
 */
#ifndef TASKS_HEADER_HEADER_JSON_H
#define TASKS_HEADER_HEADER_JSON_H

#include "base/json.h"
#include "perfdata/reader.h"

/* Writes a member of the open object. Omits what the recording lacks. full includes header_info_json. */
void header_json(struct json *j, const struct perfdata_reader *reader, bool full);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * header_info_json.h - prints as JSON what a recording's header contains about the machine besides its name (report
 * --json -I). See docs/schema/report.json.
 *
 *	header_info_json(&j, reader);	// "info": {"pmus": [...], ...}
 */
#ifndef TASKS_HEADER_HEADER_INFO_JSON_H
#define TASKS_HEADER_HEADER_INFO_JSON_H

#include "base/json.h"
#include "perfdata/reader.h"

/* Writes a member of the open object. Omits what the recording lacks, and names damaged sections. */
void header_info_json(struct json *j, const struct perfdata_reader *reader);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report_json.h - what report --json has around its tables: the recording, what it is worth. See docs/schema/report.json.
 *
 *	report_json_begin(&j, path);  ... the members ...  report_json_worth(&j, &worth, &requirements);  json_object_end(&j);
 */
#ifndef VERBS_REPORT_REPORT_JSON_H
#define VERBS_REPORT_REPORT_JSON_H

#include "analysis/replay/worth.h"
#include "base/json.h"

void report_json_begin(struct json *j, const char *path);
void report_json_worth(struct json *j, const struct worth *worth, const struct requirements *requirements);

#endif

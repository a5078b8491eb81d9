/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report_json.h - writes the members around the tables of report --json: the recording and its quality
 * (docs/schema/report.json).
 *
 *	report_json_begin(&j, path, features);
 *	... the tables ...
 *	report_json_quality(&j, &quality, &requirements);
 *	json_object_end(&j);
 */
#ifndef VERBS_REPORT_REPORT_JSON_H
#define VERBS_REPORT_REPORT_JSON_H

#include "analysis/replay/quality.h"
#include "base/json.h"
#include "perfdata/features.h"

void report_json_begin(struct json *j, const char *path, const struct perfdata_features *features);
void report_json_quality(struct json *j, const struct quality *quality, const struct requirements *requirements);

#endif

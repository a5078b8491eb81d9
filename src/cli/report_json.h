/*
 * report_json.h - what report --json has around its tables: the recording, what it is worth. See docs/schema/report.json.
 *
 *	report_json_begin(&j, path);  report_json_table(&j, ...);  report_json_end(&j, &worth, &requirements);
 */
#ifndef CLI_REPORT_JSON_H
#define CLI_REPORT_JSON_H

#include "analysis/worth.h"
#include "base/json.h"

void report_json_begin(struct json *j, const char *path);
/* worth NULL: it is not known, since the recording could not be read. */
void report_json_end(struct json *j, const struct worth *worth, const struct requirements *requirements);

#endif

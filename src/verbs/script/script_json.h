/* SPDX-License-Identifier: Apache-2.0 */
/*
 * script_json.h - writes the output of `script --json`: one object (docs/schema/script.json) with a line for each
 * sample.
 *
 *	script_json_begin(&j, path, features);
 *	script_json_sample(&j, &printer, event, record, sample, clock);   // for each sample
 *	script_json_end(&j, &health);
 */
#ifndef VERBS_SCRIPT_SCRIPT_JSON_H
#define VERBS_SCRIPT_SCRIPT_JSON_H

#include "base/json.h"
#include "verbs/script/script_rows.h"

void script_json_begin(struct json *j, const char *path, const struct perfdata_features *features);
/* Appends the object of one sample. clock is the time of the sample, as determined by sample_clock.h. Returns false if
 * out of memory. */
bool script_json_sample(struct json *j, struct script_printer *printer, const struct perfdata_event *event,
	const struct record *record, const struct sample *sample, uint64_t clock);
void script_json_end(struct json *j, const struct input_health *health);
/* Appends a member for each field of a tracepoint's payload. */
void script_json_fields(struct json *j, struct tracepoint_printer *tracepoints, struct tally_bytes raw);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * probe_json.h - writes what `probe --list` and `--funcs` show as JSON (docs/schema/probe.json).
 *
 *	probe_json_begin(&j, &out, "probes");
 *	probe_json_event(&j, &viewer, &event);
 *	probe_json_end(&j);
 */
#ifndef VERBS_PROBE_PROBE_JSON_H
#define VERBS_PROBE_PROBE_JSON_H

#include "base/json.h"
#include "tasks/probing/cached_probes.h"
#include "tasks/probing/probe_show.h"

/* An object with one array, which probe_json_end closes. */
void probe_json_begin(struct json *j, struct text *out, const char *array);
void probe_json_event(struct json *j, struct probe_viewer *viewer, const struct probe_event *event);
void probe_json_cached(struct json *j, const struct cached_probe_list *list);
void probe_json_end(struct json *j);

#endif

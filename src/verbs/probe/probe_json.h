/* SPDX-License-Identifier: Apache-2.0 */
/*
 * probe_json.h - writes the output of `probe --list` and `--funcs` as JSON (docs/schema/probe.json).
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

/* Begins an object with one array; probe_json_end ends both. */
void probe_json_begin(struct json *j, struct text *out, const char *array);
void probe_json_event(struct json *j, struct probe_viewer *viewer, const struct probe_event *event);
void probe_json_cached(struct json *j, const struct cached_probe_list *list);
void probe_json_end(struct json *j);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * list_metrics.h - lists the metrics and metric groups for `list`, in perf's layout and as JSON.
 *
 * A list_metrics belongs to the caller (list_metrics_deinit) and borrows the catalogue. Each metric is looked up on this
 * machine, and its events are opened once, disabled.
 */
#ifndef VERBS_LIST_LIST_METRICS_H
#define VERBS_LIST_LIST_METRICS_H

#include "base/json.h"
#include "kernel/events/catalogue.h"

struct list_metrics {
	struct event_catalogue *catalogue;
	bool *wanted; /* per row of metric_table, of each name the first */
	bool shows_all; /* also metrics that cannot be opened here */
	bool has_descriptions, has_details;
	size_t left_out;
	char why_left_out[480];
};

TALLY_MUST_CHECK bool list_metrics_init(struct list_metrics *list, struct event_catalogue *catalogue);
void list_metrics_deinit(struct list_metrics *list);
/* Those whose names match the pattern, in any case (* ? [set]). */
void list_metrics_want(struct list_metrics *list, const char *pattern);
bool list_metrics_has_any(const struct list_metrics *list);
void list_metrics_print(struct list_metrics *list, struct text *text);
/* Names alone, with blanks between and, unless is_first, before. False: nothing has been written there yet. */
bool list_metrics_names(struct list_metrics *list, bool is_first, struct text *text);
void list_metrics_json(struct list_metrics *list, struct json *json);
/* The groups that this machine has metrics of: their names as list_metrics_names has them, and as text. */
bool list_metric_groups_names(struct list_metrics *list, bool is_first, struct text *text);
void list_metric_groups_print(struct list_metrics *list, struct text *text);

#endif

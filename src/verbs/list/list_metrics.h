/* SPDX-License-Identifier: Apache-2.0 */
/*
 * list_metrics.h - lists the metrics and metric groups for `list`, in perf's layout and as JSON.
 *
 * The caller owns a list_metrics, which borrows the catalogue. To check whether a metric works on this machine, its
 * events are opened once, disabled.
 */
#ifndef VERBS_LIST_LIST_METRICS_H
#define VERBS_LIST_LIST_METRICS_H

#include "base/json.h"
#include "kernel/events/catalogue.h"

struct list_metrics {
	struct event_catalogue *catalogue;
	/* For each row of metric_table, whether its metric is selected; set only for the first row with a given
	 * name. */
	bool *wanted;
	bool shows_all; /* Includes metrics that cannot be opened on this machine. */
	bool has_descriptions, has_details;
	size_t left_out; /* Number of metrics omitted because they cannot be opened. */
	char why_left_out[480]; /* The reason why the first of these cannot be opened. */
};

TALLY_MUST_CHECK bool list_metrics_init(struct list_metrics *list, struct event_catalogue *catalogue);
void list_metrics_deinit(struct list_metrics *list);
/* Selects the metrics with names that match the glob pattern, ignoring case. */
void list_metrics_want(struct list_metrics *list, const char *pattern);
bool list_metrics_has_any(const struct list_metrics *list);
void list_metrics_print(struct list_metrics *list, struct text *text);
/* Appends the names, separated by blanks. is_first: text has no names yet. Returns whether it has names now. */
bool list_metrics_names(struct list_metrics *list, bool is_first, struct text *text);
void list_metrics_json(struct list_metrics *list, struct json *json);
/* Appends the names of the groups with metrics for this machine, like list_metrics_names. */
bool list_metric_groups_names(struct list_metrics *list, bool is_first, struct text *text);
void list_metric_groups_print(struct list_metrics *list, struct text *text);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stat_metrics.h - computes the values shown beside a count: the ratios of default events, or the metrics of -M.
 *
 * Pure; borrows the report.
 */
#ifndef TASKS_COUNTS_STAT_METRICS_H
#define TASKS_COUNTS_STAT_METRICS_H

#include "base/text.h"
#include "tasks/counts/stat_report.h"

/* The nth metric of the event's line; unit NULL: there are no more. */
struct stat_metric stat_metric_at(const struct stat_report *report, size_t event, size_t place, unsigned nth);
/* The value as it is printed; "nan" if there is none. */
void stat_metric_value(struct text *text, const struct stat_metric *metric, const char *point);
/* "   1.50  insn per cycle". */
void stat_metric_text(struct text *text, const struct stat_metric *metric, const char *point);

#endif

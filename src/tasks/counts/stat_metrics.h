/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stat_metrics.h - computes the values shown beside a count: the ratios of default events, or the metrics of -M.
 *
 * Pure; the report is borrowed.
 */
#ifndef TASKS_COUNTS_STAT_METRICS_H
#define TASKS_COUNTS_STAT_METRICS_H

#include "base/text.h"
#include "tasks/counts/stat_report.h"

/* Returns the nth metric in the line of the event; its unit is NULL if there are no more. */
struct stat_metric stat_metric_at(const struct stat_report *report, size_t event, size_t place, unsigned nth);
/* Appends the value, or "nan" if there is none. point is the decimal point; see stat_number. */
void stat_metric_value(struct text *text, const struct stat_metric *metric, const char *point);
/* Appends text such as "   1.50  insn per cycle". */
void stat_metric_text(struct text *text, const struct stat_metric *metric, const char *point);

#endif

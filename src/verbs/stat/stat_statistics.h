/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stat_statistics.h - implements stat --stats, which prints the median of the runs with its confidence interval, and
 * the outliers.
 *
 * The output is text after the table, or one JSON object per event, each on a line. kernel/counting/run_statistics.h
 * computes the statistics.
 */
#ifndef VERBS_STAT_STAT_STATISTICS_H
#define VERBS_STAT_STAT_STATISTICS_H

#include "tasks/counts/stat_values.h"

void stat_statistics_print(struct text *t, const struct stat_values *values, const struct stat_style *style);

#endif

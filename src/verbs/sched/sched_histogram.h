/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sched_histogram.h - implements `sched latency --histogram`, which prints a histogram of scheduling delays, as text in
 * the layout of perf 7.x and as JSON.
 */
#ifndef VERBS_SCHED_SCHED_HISTOGRAM_H
#define VERBS_SCHED_SCHED_HISTOGRAM_H

#include "analysis/sched_latency.h"
#include "base/json.h"
#include "base/text.h"

void sched_histogram_print(const struct sched_latency *l, bool is_linear, struct text *out);
/* Appends an array of the given name. */
void sched_histogram_json(const struct sched_latency *l, bool is_linear, const char *name, struct json *j);

#endif

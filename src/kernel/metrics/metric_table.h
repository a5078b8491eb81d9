/* SPDX-License-Identifier: Apache-2.0 */
/*
 * metric_table.h - lists the metrics of stat -M: names, groups and expressions over generic events and events from
 * sysfs. A constant table.
 *
 * A name may have several rows; the first row whose events this machine has is used. Metrics that perf 7.3 also has
 * have the names that `perf list metric` prints.
 */
#ifndef KERNEL_METRICS_METRIC_TABLE_H
#define KERNEL_METRICS_METRIC_TABLE_H

#include "base/bytes.h"

struct metric {
	const char *name;
	const char *other_name; /* NULL if none. */
	const char *groups; /* Separated by semicolons. */
	const char *expression;
	double scale; /* Factor that converts the value to unit. */
	const char *unit; /* Such as "%"; "" if none. */
	/* '>' or '<': a value beyond the threshold deserves attention. 0 if there is no threshold. */
	char threshold_sign;
	double threshold;
	const char *description;
};

extern const struct metric metric_table[];
extern const size_t metric_table_len;

bool metric_is_in_group(const struct metric *metric, struct tally_str group);
/* Returns whether the word is a name of the metric, in any case, or one of its groups. */
bool metric_is_meant(const struct metric *metric, struct tally_str word);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * metric_table.h - lists the metrics of stat -M: names, groups and expressions over generic events and events from
 * sysfs. A constant table.
 *
 * A name may have several rows: the first one whose events this machine has is used. Names of perf 7.3 where it has the
 * metric (perf list metric).
 */
#ifndef KERNEL_METRICS_METRIC_TABLE_H
#define KERNEL_METRICS_METRIC_TABLE_H

#include "base/bytes.h"

struct metric {
	const char *name;
	const char *other_name; /* NULL: none */
	const char *groups; /* with ; between */
	const char *expression;
	double scale; /* of the value, for the unit */
	const char *unit; /* "%"; "": none */
	char threshold_sign; /* '>' or '<': a value beyond the threshold deserves attention; 0: there is no threshold */
	double threshold;
	const char *description;
};

extern const struct metric metric_table[];
extern const size_t metric_table_len;

bool metric_is_in_group(const struct metric *metric, struct tally_str group);
/* Whether the word is the metric's name, in any case, or one of its groups. */
bool metric_is_meant(const struct metric *metric, struct tally_str word);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * script_metrics.h - prints metrics calculated from the counts of a sample's group (`script -F metric`), such as
 * instructions per cycle or the share of mispredicted branches, as stat prints them beside its counts.
 *
 * The reader is borrowed. Not thread-safe.
 *
 *	script_metrics_init(&metrics, reader, err);
 *	script_metrics_begin(&metrics);  script_metrics_count(&metrics, event, grown);  // for each event of the group
 *	script_metrics_print(&metrics, &printer, &text, &row);
 */
#ifndef VERBS_SCRIPT_SCRIPT_METRICS_H
#define VERBS_SCRIPT_SCRIPT_METRICS_H

#include "base/arena.h"
#include "tasks/counts/stat_report.h"
#include "verbs/script/script_rows.h"

struct script_metrics {
	struct arena arena;
	struct event_list events; /* The recording's events. */
	struct aggregation whole; /* Aggregates all CPUs and threads to a single value. */
	bool *is_counted; /* Indexed by event. */
	struct stat_cell *cells; /* Indexed by event. */
	struct stat_report report;
};

TALLY_MUST_CHECK enum tally_status script_metrics_init(
	struct script_metrics *metrics, const struct perfdata_reader *reader, struct tally_error *err);
void script_metrics_deinit(struct script_metrics *metrics);
/* Clears the counts. Called before those of a new sample are added. */
void script_metrics_begin(struct script_metrics *metrics);
/* Adds the count of an event. grown is the difference from the count in the previous sample of the event. */
void script_metrics_count(struct script_metrics *metrics, uint32_t event, uint64_t grown);
/* Prints a line for each event with a metric: the row's head and "\tmetric:    1.50  insn per cycle". */
void script_metrics_print(const struct script_metrics *metrics, struct script_printer *printer, struct text *t,
	const struct script_row *row);

#endif

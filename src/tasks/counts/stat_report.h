/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stat_report.h - holds the results of stat, ready to be shown: for each event and place the mean over runs, and the
 * ratios. A place is an element of the aggregation, such as a CPU, a core or a thread.
 *
 * Filled in by cmd_stat, read by stat_rows. The caller owns the report, which borrows the event list, the aggregation
 * and the names of threads.
 */
#ifndef TASKS_COUNTS_STAT_REPORT_H
#define TASKS_COUNTS_STAT_REPORT_H

#include "base/diag.h"
#include "base/running_mean.h"
#include "kernel/counting/aggregate.h"
#include "kernel/events/event_parser.h"
#include "tasks/counts/stat_failures.h"

struct metric_set;
struct stat_environment;

/* The count of one event at one place. */
struct stat_cell {
	struct running_mean value;
	struct running_mean running_ns, enabled_ns;
	uint32_t cpu_count;
};

/* Describes counts that are not those of perf events. */
struct stat_origin {
	const char *kind; /* Stable identifier for JSON: "rusage" or "simulated". */
	const char *by; /* Name of what counted. */
	const char *not_seen; /* Description of what it cannot count. */
	/* Description of the elapsed time, if that is not the run time of what is measured; otherwise NULL. */
	const char *elapsed;
};

struct stat_report {
	const struct event_list *events;
	const bool *supported; /* One flag for each event. */
	/* For each event, the reason why it was not counted, or NULL if it was. reasons itself may be NULL. */
	char *const *reasons;
	/* Events were counted in threads, not on CPUs, so an event's time is that in which the threads ran. */
	bool is_of_tasks;
	unsigned cpu_limit; /* Number of the machine's CPUs, or 0 if unknown. */
	/* Indexes of the events that other events' ratios may refer to, in order; NULL for all events. */
	const uint32_t *sources;
	size_t source_count;
	const struct aggregation *aggregation;
	char *const *comms; /* Names of the threads, for AGGREGATE_THREAD. */
	struct stat_cell *cells; /* See stat_cell_at. */
	struct running_mean wall_ns, user_ns, system_ns;
	bool has_usage; /* User and system time are those of the measured command. */
	unsigned runs;
	bool merges_pmus; /* Adds up an event of several PMUs of the same kind. */
	const struct metric_set *metrics; /* Metrics of -M, or NULL for the ratios of default events. */
	bool has_thresholds; /* Judges metrics by their thresholds. */
	bool shows_core_threads; /* Events with the term percore have a line for each hardware thread. */
	const char *heading; /* Target for the heading, such as "'true'", "'system wide'" or "process id '1'". */
	double interval_s; /* Time stamp of interval mode; negative in other modes. */
	const struct stat_origin *origin; /* NULL for perf events. */
	bool is_summary; /* The report is the summary of all intervals in interval mode. */
	const struct stat_failures *failures; /* Failed runs of the command; NULL if unknown. */
	const struct diag *warnings; /* Warnings about incomplete counts; NULL if there are none. */
	/* Environment of counts that are stored for later comparisons; otherwise NULL. */
	const struct stat_environment *environment;
	const char *benchmark; /* Argument of --name, or NULL. */
};

struct stat_metric {
	double value;
	/* Description such as "CPUs utilized", "K/sec" or "of all branches"; NULL if there is no metric. */
	const char *unit;
	unsigned decimals;
	bool is_percent;
	bool is_of_whole; /* For units such as "of all branches", which make sense only beside the event's name. */
	bool is_usual; /* Rates and CPU utilization, which exist for every event and are omitted by --metric-only. */
	const char *judgement; /* "good" or "bad", or NULL if there is no threshold. */
};

static inline struct stat_cell *stat_cell_at(const struct stat_report *report, size_t event, size_t place)
{
	return &report->cells[event * report->aggregation->len + place];
}
/* Returns the sum with the counts of the same event on PMUs of the same kind, which follow it in the list. */
struct stat_cell stat_merged_cell(const struct stat_report *report, size_t event, size_t place, bool *is_supported);
/* Returns whether ratios may refer to the event, which must be a clock or a generic hardware event. */
bool stat_event_is_source(const struct event_spec *spec);
/* Returns whether the event counts nanoseconds that are shown as milliseconds: cpu-clock or task-clock. */
bool stat_event_is_clock(const struct event_spec *spec);
/* Returns the reason why the count is impossible, as with a hypervisor's counter that does not advance or that jumps.
 * Returns NULL if the count is plausible. */
const char *stat_doubt_of(const struct stat_report *report, size_t event, size_t place);
/* Returns the ratio that is shown beside the count; its unit is NULL if there is none. */
struct stat_metric stat_metric_of(const struct stat_report *report, size_t event, size_t place);
/* Returns the second ratio that some events have (stalled cycles per instruction); its unit is NULL if there is
 * none. */
struct stat_metric stat_second_metric_of(const struct stat_report *report, size_t event, size_t place);

#endif

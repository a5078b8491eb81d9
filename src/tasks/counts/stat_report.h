/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stat_report.h - holds the results of stat, ready to be shown: for each event and place the mean over runs, and the
 * ratios.
 *
 * Filled by cmd_stat, read by stat_rows. The report belongs to the caller and borrows the event list, the aggregation
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

struct stat_cell {
	struct running_mean value;
	struct running_mean running_ns, enabled_ns;
	uint32_t cpu_count;
};

struct stat_origin { /* of counts that are not those of perf events */
	const char *kind; /* "rusage", "simulated": stable, for JSON */
	const char *by; /* what counted */
	const char *not_seen; /* what it cannot count */
	const char *elapsed; /* what the elapsed time is, if it is not the time of what is measured; NULL: it is */
};

struct stat_report {
	const struct event_list *events;
	const bool *supported; /* per event */
	char *const *reasons; /* per event: why it was not counted, NULL: it was; NULL: nothing is known */
	bool is_of_tasks; /* counted in threads, not on CPUs: an event's time is that in which they ran */
	unsigned cpu_limit; /* CPUs of the machine; 0: not known */
	const uint32_t *sources; /* events that ratios of others refer to, in order; NULL: all events may be */
	size_t source_count;
	const struct aggregation *aggregation;
	char *const *comms; /* per thread, of AGGREGATE_THREAD */
	struct stat_cell *cells; /* event x place */
	struct running_mean wall_ns, user_ns, system_ns;
	bool has_usage; /* user and system time are of the measured command */
	unsigned runs;
	bool merges_pmus; /* adds up an event of several PMUs of the same kind */
	const struct metric_set *metrics; /* -M: instead of the ratios of default events; NULL: those */
	bool has_thresholds; /* marks metrics that exceed their thresholds */
	bool shows_core_threads; /* percore events have a line for each hardware thread */
	const char *heading; /* "'true'", "'system wide'", "process id '1'" */
	double interval_s; /* time stamp of interval mode; negative: none */
	const struct stat_origin *origin; /* NULL: perf events */
	bool is_summary; /* the totals after interval mode */
	const struct stat_failures *failures; /* of the command's runs; NULL: none is known */
	const struct diag *warnings; /* what the counts lack; NULL: nothing is known of that */
	const struct stat_environment *environment; /* of counts that are stored and compared later; NULL: of others */
	const char *benchmark; /* --name; NULL: none */
};

struct stat_metric {
	double value;
	const char *unit; /* "CPUs utilized", "K/sec", "of all branches"; NULL: no metric */
	unsigned decimals;
	bool is_percent;
	bool is_of_whole; /* "of all branches": of which event, only its name says */
	bool is_usual; /* rates and the use of CPUs, which stand beside every event: --metric-only leaves them out */
	const char *judgement; /* "good", "bad"; NULL: there is none */
};

static inline struct stat_cell *stat_cell_at(const struct stat_report *report, size_t event, size_t place)
{
	return &report->cells[event * report->aggregation->len + place];
}
/* Adds the counts of the same event on like PMUs, which follow it in the list. */
struct stat_cell stat_merged_cell(const struct stat_report *report, size_t event, size_t place, bool *is_supported);
/* Whether ratios may refer to the event: a clock or a generic hardware event. */
bool stat_event_is_source(const struct event_spec *spec);
/* Counts of nanoseconds that are shown as milliseconds: cpu-clock and task-clock. */
bool stat_event_is_clock(const struct event_spec *spec);
/* Why the count cannot be right, a clause; NULL: it may be. Of a hypervisor's counters that stand or jump. */
const char *stat_doubt_of(const struct stat_report *report, size_t event, size_t place);
struct stat_metric stat_metric_of(const struct stat_report *report, size_t event, size_t place);
/* A second ratio that some events have (stalled cycles per instruction); unit NULL: none. */
struct stat_metric stat_second_metric_of(const struct stat_report *report, size_t event, size_t place);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stat_settings.h - holds the settings from the command line of stat.
 *
 * Strings are borrowed from argv. events.words has -e, --pfm-events, -G, -M and --filter in their order, because later
 * ones refer to the events before them.
 */
#ifndef VERBS_STAT_STAT_SETTINGS_H
#define VERBS_STAT_STAT_SETTINGS_H

#include "base/vec.h"
#include "kernel/counting/aggregate.h"
#include "kernel/system/target.h"
#include "tasks/recording/record_control.h"

struct stat_rung;

struct stat_event_word {
	enum { WORD_EVENT, WORD_CGROUP, WORD_FILTER, WORD_METRIC, WORD_PFM } kind;
	const char *text;
};

struct stat_lines { /* How counts are aggregated; each aggregate is printed on a line of its own. */
	enum aggregation_mode mode;
	unsigned cache_level; /* For AGGREGATE_CACHE; 0 for the last level. */
};

struct stat_event_settings { /* The events to be counted. */
	VEC(struct stat_event_word) words;
	const char *for_each_cgroup;
	const char *core_type; /* Core type for generic events on a hybrid CPU; NULL for each type. */
	bool merges_cores;
	bool no_metric_group, no_metric_merge;
	bool has_topdown, has_transactions, has_smi_cost;
	uint64_t topdown_level; /* 0 for all levels. */
	bool all_user, all_kernel, one_group, is_null;
	unsigned detail; /* Number of times that -d was given. */
};

enum stat_rung_choice { STAT_RUNG_AUTO, STAT_RUNG_EVENTS, STAT_RUNG_RUSAGE };

struct stat_counting { /* The target, time and number of runs. */
	struct target_request target;
	struct stat_lines lines;
	bool no_inherit, is_scaling;
	enum stat_rung_choice rung;
	bool requires_event;
	bool shares_counters; /* --bpf-counters. */
	const char *shared_path; /* --bpf-attr-map; NULL for the default. */
	const char *bpf_programs; /* IDs of --bpf-prog; NULL if not given. */
	uint64_t runs; /* 0 to repeat forever. */
	uint64_t interval_ms, interval_count, timeout_ms;
	int64_t delay_ms; /* -1 to start with disabled events. */
	const char *pre, *post; /* Command lines to run before and after each run; NULL if not given. */
	bool does_sync, has_statistics, is_plan, has_passes;
	const char *fail_if; /* --fail-if; NULL if not given. */
	const char *compare; /* The first command line of --compare (the second is the command); NULL if not given. */
	struct record_control_spec control;
};

struct stat_simulation_settings { /* Options of --simulate. */
	bool is_on;
	const char *cache_model; /* NULL for that of this machine. */
	VEC(const char *) toggles;
	double threshold; /* --threshold of --compare, in percent. */
	bool has_threshold;
	const char *name; /* Name of the benchmark in JSON; NULL for none. */
};

struct stat_view { /* The format and the destination of the output. */
	bool no_merge, shows_core_threads, no_metric_threshold;
	bool hides_zeros; /* --hide-zero-events. */
	bool clears_screen, has_summary, no_csv_summary;
	const char *separator; /* NULL if -x was not given. */
	bool is_markdown; /* --markdown of --compare. */
	/* asks_big_num and says_metrics_only mean that has_big_num and has_metrics_only were set by an option. */
	bool is_json, has_big_num, asks_big_num, has_metrics_only, says_metrics_only, has_table, is_quiet, is_append;
	const char *output;
	uint64_t log_fd; /* UINT64_MAX if not given. */
	unsigned verbose;
};

struct stat_settings {
	struct stat_event_settings events;
	struct stat_counting counting;
	struct stat_view view;
	struct stat_simulation_settings simulation;
	const char *recording; /* -i of stat report; NULL if not given. */
	bool has_iostat; /* --iostat: runs the verb iostat instead. */
	const char *iostat_ports; /* NULL for all. */
};

/* The settings, completed by the words of the command line and by what they imply. */
struct stat_job {
	struct stat_settings settings;
	const char *recording; /* Output of stat record; NULL if nothing is recorded. */
	char *const *argv; /* The whole command line of the verb. */
	char *const *command; /* NULL if there is none. */
	const struct stat_rung *rung; /* Source of counts that replaces perf events; NULL for perf events. */
};

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stat_settings.h - what the command line of stat asked for.
 *
 * A value on the verb's stack; texts borrow from argv. events holds -e, --pfm-events, -G, -M and --filter in their order, because the
 * later ones refer to the events before them.
 */
#ifndef VERBS_STAT_STAT_SETTINGS_H
#define VERBS_STAT_STAT_SETTINGS_H

#include "base/vec.h"
#include "kernel/counting/aggregate.h"
#include "kernel/system/target.h"
#include "tasks/recording/record_control.h"

struct stat_event_word {
	enum { WORD_EVENT, WORD_CGROUP, WORD_FILTER, WORD_METRIC, WORD_PFM } kind;
	const char *text;
};

struct stat_lines { /* what has a line of its own */
	enum aggregation_mode mode;
	unsigned cache_level; /* of AGGREGATE_CACHE; 0: the last */
};

struct stat_settings {
	VEC(struct stat_event_word) words;
	const char *for_each_cgroup;
	const char *core_type; /* of generic events on a hybrid CPU; NULL: each */
	bool merges_cores;
	bool no_metric_group, no_metric_merge, no_metric_threshold;
	bool has_topdown, has_transactions, has_smi_cost;
	uint64_t topdown_level; /* 0: all that there are */
	struct target_request target;
	bool all_user, all_kernel, one_group;
	bool no_inherit, is_scaling, no_merge, is_null, shows_core_threads;
	bool hides_zeros; /* --hide-zero-events */
	unsigned detail, verbose;
	uint64_t runs; /* 0: for ever */
	struct stat_lines lines;
	uint64_t interval_ms, interval_count, timeout_ms;
	int64_t delay_ms; /* -1: never enabled */
	bool clears_screen, has_summary, no_csv_summary;
	const char *separator;
	bool is_json, has_big_num, asks_big_num, has_metrics_only, says_metrics_only, has_table, is_quiet, is_append,
		does_sync;
	const char *output;
	const char *recording; /* of stat record and stat report; NULL: none */
	char *const *argv; /* the whole command line of the verb */
	uint64_t log_fd;
	const char *pre, *post;
	bool has_statistics, is_plan, has_passes;
	const char *compare; /* the first of two command lines; the other is the command; NULL: one is counted */
	struct record_control_spec control;
	char *const *command; /* NULL: none */
};

#endif

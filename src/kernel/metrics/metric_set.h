/* SPDX-License-Identifier: Apache-2.0 */
/*
 * metric_set.h - adds the events of metrics to an event list, and records which event each name in an expression means.
 *
 * A set belongs to the caller (metric_set_deinit) and refers to events by index. The events of a metric form a weak
 * group. If the group of another metric contains all of them, it is used instead. Times that the tool measures are not
 * in groups. On a machine with several kinds of core, a metric is used once for each kind.
 *
 *	struct metric_set set = {0};
 *	metric_set_add(&set, &machine, "IPC,TopdownL1", &options, &events, err);
 *	for each use: metric_expr_value(use->expr, values of events use->events[0..])
 */
#ifndef KERNEL_METRICS_METRIC_SET_H
#define KERNEL_METRICS_METRIC_SET_H

#include "base/vec.h"
#include "kernel/events/event_spec.h"
#include "kernel/metrics/metric_machine.h"

struct metric_options {
	bool no_group; /* Events are not grouped. */
	bool no_merge; /* Metrics do not share groups. */
	bool merges_cores; /* Counts of the kinds of core will be added up. */
};

struct metric_use {
	const struct metric *metric;
	const struct metric_expr *expr;
	const uint32_t *events; /* Indexes of events, one for each of expr->names. */
	uint32_t lead; /* Index of the event beside which the metric is shown. */
	const char *label; /* Unit and name as perf prints them: "%  branch_miss_rate". */
};

struct metric_group; /* Events that are opened together. */

struct metric_set {
	VEC(struct metric_use) uses;
	VEC(struct metric_expr *) exprs;
	VEC(struct metric_group) groups;
	struct arena arena;
	bool has_arena;
};

/* Returns whether the machine has the events of at least one metric of the group; err says what it lacks. */
bool metric_set_has(struct metric_machine *machine, const char *group, struct tally_error *err);
/* Adds the metrics in words (names and groups, separated by commas) and appends their events. Returns TALLY_NOT_FOUND
 * if there is no such metric, or no events for it. */
TALLY_MUST_CHECK enum tally_status metric_set_add(struct metric_set *set, struct metric_machine *machine,
	const char *words, const struct metric_options *options, struct event_list *events, struct tally_error *err);
/* Appends copies of the first count uses for copies of their events; the index of each copied event is that of the
 * original plus shift. */
TALLY_MUST_CHECK enum tally_status metric_set_repeat(
	struct metric_set *set, size_t count, uint32_t shift, struct tally_error *err);
/* Updates the indexes of events in all uses after events that belong to no metric were removed from the list. */
TALLY_MUST_CHECK enum tally_status metric_set_follow(
	struct metric_set *set, const struct event_list *events, struct tally_error *err);
void metric_set_deinit(struct metric_set *set);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * metric_set.h - binds the metrics of a run to events: which event of the list each name in an expression stands for.
 *
 * Belongs to the caller (metric_set_deinit), and refers to events by index. The events of a metric become a weak group;
 * a metric whose events are all in another metric's group uses that group. The tool's own clocks are outside of groups.
 * On a machine with several kinds of core there is one metric for each kind.
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
	bool no_group; /* events one by one */
	bool no_merge; /* metrics do not share events */
	bool merges_cores; /* counts of the kinds of core will be added up */
};

struct metric_use {
	const struct metric *metric;
	const struct metric_expr *expr;
	const uint32_t *events; /* one for each of expr->names */
	uint32_t lead; /* the event beside which it is shown */
	const char *label; /* its unit and name as perf writes them: "%  branch_miss_rate" */
};

struct metric_group; /* events that were opened together */

struct metric_set {
	VEC(struct metric_use) uses;
	VEC(struct metric_expr *) exprs;
	VEC(struct metric_group) groups;
	struct arena arena;
	bool has_arena;
};

/* Whether the machine has events for one of the group's metrics; err: what it lacks. */
bool metric_set_has(struct metric_machine *machine, const char *group, struct tally_error *err);
/* Appends their events. words: names and groups with commas between. NOT_FOUND: no such metric, or no events for it. */
TALLY_MUST_CHECK enum tally_status metric_set_add(struct metric_set *set, struct metric_machine *machine,
	const char *words, const struct metric_options *options, struct event_list *events, struct tally_error *err);
/* Repeats the first count uses, for copies of their events that are shift places later in the list. */
TALLY_MUST_CHECK enum tally_status metric_set_repeat(
	struct metric_set *set, size_t count, uint32_t shift, struct tally_error *err);
/* Updates the indexes after events that belong to no metric were removed from the list. */
TALLY_MUST_CHECK enum tally_status metric_set_follow(
	struct metric_set *set, const struct event_list *events, struct tally_error *err);
void metric_set_deinit(struct metric_set *set);

#endif

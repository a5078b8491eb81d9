/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stat_plan.h - implements stat --plan, which shows what each event would count on this machine, which events fit on
 * the PMU together, and which processes use counters. The events are opened, enabled for a moment and closed.
 */
#ifndef VERBS_STAT_STAT_PLAN_H
#define VERBS_STAT_STAT_PLAN_H

#include "base/text.h"
#include "kernel/counting/fit.h"
#include "kernel/counting/pmu_holders.h"

struct stat_plan {
	const struct kernel_seam *kernel;
	const struct counter_set *set;
	const struct fit_plan *fit;
	const struct pmu_holders *holders;
	enum watchdog_state watchdog;
};

void stat_plan_print(struct text *t, const struct stat_plan *plan, bool is_json);
/* Opens the events on the target (or on this process if the target is a command), prints the plan and closes them. */
TALLY_MUST_CHECK enum tally_status stat_plan_make(const struct kernel_seam *kernel, struct event_list *events,
	struct target *target, struct text *t, bool is_json, struct tally_error *err);

#endif

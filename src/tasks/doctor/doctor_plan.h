/* SPDX-License-Identifier: Apache-2.0 */
/*
 * doctor_plan.h - predicts what the verbs will do on this machine, given the events that can be opened.
 *
 *	struct doctor_plan plans[PLAN_COUNT];
 *	doctor_plan_make(&checks, plans);
 */
#ifndef TASKS_DOCTOR_DOCTOR_PLAN_H
#define TASKS_DOCTOR_DOCTOR_PLAN_H

#include "tasks/doctor/machine_gates.h"
#include "tasks/doctor/target_checks.h"

enum doctor_plan_topic { PLAN_SAMPLES, PLAN_SCOPE, PLAN_CALL_GRAPHS, PLAN_WAITS, PLAN_COUNTS, PLAN_COUNT };

struct doctor_plan {
	const char *name; /* Stable identifier for JSON, such as "samples". */
	const char *text; /* A sentence without the full stop. */
};

/* Fills in PLAN_COUNT plans with constant strings. */
void doctor_plan_make(const struct machine_checks *checks, struct doctor_plan *plans);
/* Returns whether record, stat and flamegraph can measure the target at all. target is NULL for any program of this
 * user. */
bool doctor_plan_can_measure(const struct machine_checks *checks, const struct target_checks *target);

#endif

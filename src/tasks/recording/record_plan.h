/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record_plan.h - interprets the options of record and top. Pure: the settings do not change.
 *
 *	record_target_complete(&settings.target, has_command);
 *	struct record_plan plan = record_plan_make(&settings);
 *	int code = record_freq_find(kernel, &settings, &plan.attrs.rate);
 */
#ifndef TASKS_RECORDING_RECORD_PLAN_H
#define TASKS_RECORDING_RECORD_PLAN_H

#include "tasks/recording/record_options.h"

/* Selects all CPUs as the target if nothing else is given. */
void record_target_complete(struct target_request *target, bool has_command);
/* Derives everything except the rate. The target must be complete. */
struct record_plan record_plan_make(const struct record_settings *settings);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * target_options.h - declares the options that select the target, for every verb that records or counts.
 *
 * The settings of a verb contain a struct target_request (kernel/system/target.h), and its table contains the rows of
 * the group:
 *
 *	TARGET_OPTIONS(struct settings, target),
 */
#ifndef TASKS_RECORDING_TARGET_OPTIONS_H
#define TASKS_RECORDING_TARGET_OPTIONS_H

#include "cli/options.h"
#include "kernel/system/target.h"

/* Table of the options -a/--all-cpus, -C/--cpu, -p/--pid and -t/--tid. */
extern const struct option_table target_option_table;
#define TARGET_OPTIONS(type, member) OPTION_GROUP_ROW(&target_option_table, type, member)

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rung_options.h - declares the options that determine whether a measuring verb uses perf events or the fallback
 * without them: docs/fallbacks.md.
 *
 * The settings of a verb contain a struct rung_request, and its table contains the rows of the group:
 *
 *	RUNG_OPTIONS(struct settings, rung),
 */
#ifndef TASKS_RECORDING_RUNG_OPTIONS_H
#define TASKS_RECORDING_RUNG_OPTIONS_H

#include "cli/options.h"

/* RUNG_AUTO uses perf events, and RUNG_TIMER only if the kernel denies all of them. */
enum rung { RUNG_AUTO, RUNG_EVENTS, RUNG_TIMER };
struct rung_request {
	enum rung rung;
	bool requires_event; /* Fails instead of using the fallback. */
};

/* Table of the options --rung and --require-event. */
extern const struct option_table rung_option_table;
#define RUNG_OPTIONS(type, member) OPTION_GROUP_ROW(&rung_option_table, type, member)
const char *rung_name(enum rung rung);

#endif

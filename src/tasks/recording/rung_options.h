/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rung_options.h - the options by which a verb that measures takes perf events, or does without: docs/fallbacks.md.
 *
 * A verb's settings have a struct rung_request, and its table the rows of the group:
 *
 *	RUNG_OPTIONS(struct settings, rung),
 */
#ifndef TASKS_RECORDING_RUNG_OPTIONS_H
#define TASKS_RECORDING_RUNG_OPTIONS_H

#include "cli/options.h"

/* AUTO: by perf events, and without only if the kernel denies all of them. */
enum rung { RUNG_AUTO, RUNG_EVENTS, RUNG_TIMER };
struct rung_request {
	enum rung rung;
	bool requires_event; /* fails rather than do without */
};

/* --rung, --require-event */
extern const struct option_table rung_option_table;
#define RUNG_OPTIONS(type, member) OPTION_GROUP_ROW(&rung_option_table, type, member)
const char *rung_name(enum rung rung);

#endif

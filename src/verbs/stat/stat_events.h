/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stat_events.h - makes the list of events that stat counts, from -e, -M, -G, --filter and -d, or the default set.
 */
#ifndef VERBS_STAT_STAT_EVENTS_H
#define VERBS_STAT_STAT_EVENTS_H

#include <errno.h>

#include "cli/commands.h"
#include "kernel/events/event_parser.h"
#include "kernel/metrics/metric_set.h"
#include "verbs/stat/stat_settings.h"

#define EXIT_NO_METRIC (256 - EINVAL) /* perf's exit code if the machine does not have the metric. */

struct stat_counted {
	struct event_list *events;
	struct metric_set *metrics; /* Remains empty if no metrics were requested. */
};

/* Adds the events to counted->events, and the metrics to counted->metrics. Returns 0, or the exit code after printing
 * the failure. */
TALLY_MUST_CHECK int stat_events_make(const struct cli *cli, const struct command *command,
	const struct kernel_seam *kernel, const struct stat_event_settings *settings, bool is_system_wide,
	struct stat_counted *counted);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record_events.h - makes the list of events that record samples: the events of -e with their cgroups and filters.
 *
 * The caller owns the lists (event_list_deinit). Mistakes are printed. Returns 0 or the exit status.
 */
#ifndef TASKS_RECORDING_RECORD_EVENTS_H
#define TASKS_RECORDING_RECORD_EVENTS_H

#include "cli/cli.h"
#include "tasks/recording/record_options.h"

int record_events_make(const struct cli *cli, const struct command *command, const struct kernel_seam *kernel,
	const struct record_settings *settings, struct event_list *events, struct event_list *switch_events);

#endif

/*
 * stat_events.h - the event list that stat counts: what -e, -G, --filter and -d named, or the default set.
 */
#ifndef CLI_STAT_EVENTS_H
#define CLI_STAT_EVENTS_H

#include "cli/commands.h"
#include "cli/stat_settings.h"
#include "kernel/events/event_parser.h"

/* 0, or the exit code: the failure has been printed. */
TALLY_MUST_CHECK int stat_events_make(const struct cli *cli, const struct command *command,
	const struct kernel_seam *kernel, const struct stat_settings *settings, bool is_system_wide,
	struct event_list *events);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stat_passes.h - implements stat --passes: it runs the command once for each set of events that fits on the PMU, so
 * that no event is multiplexed.
 *
 * One event is in every pass (instructions, else task-clock): its counts show whether the passes did the same work.
 * Times are those of the first pass. The check belongs to the caller and borrows nothing.
 */
#ifndef VERBS_STAT_STAT_PASSES_H
#define VERBS_STAT_STAT_PASSES_H

#include "cli/commands.h"
#include "tasks/counts/stat_rows.h"
#include "verbs/stat/stat_run.h"

struct stat_passes {
	uint32_t count;
	const char *check_name; /* the event in every pass */
	double low, high; /* of what it counted in the passes */
	double allowed_percent;
	size_t shared; /* events that were multiplexed all the same */
	bool was_counted; /* the check event, in each pass */
};

/* 0, or the exit code after the message. */
TALLY_MUST_CHECK int stat_passes_check(
	const struct cli *cli, const struct command *command, const struct stat_job *job);
/* session: kernel, job, target and events are set; it holds the counts of all passes then. */
TALLY_MUST_CHECK enum tally_status stat_passes_run(
	struct stat_session *session, struct stat_passes *passes, struct tally_error *err);
void stat_passes_print(struct text *t, const struct stat_passes *passes, const struct stat_style *style);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stat_passes.h - implements stat --passes, which runs the command once for each set of events that fits on the PMU, so
 * that no event is multiplexed.
 *
 * A check event (instructions, else task-clock) is counted in every pass; its counts show whether the passes did the
 * same work. Times are those of the first pass.
 */
#ifndef VERBS_STAT_STAT_PASSES_H
#define VERBS_STAT_STAT_PASSES_H

#include "cli/commands.h"
#include "tasks/counts/stat_rows.h"
#include "verbs/stat/stat_run.h"

struct stat_passes { /* How well the passes agree. Borrows nothing. */
	uint32_t count;
	const char *check_name; /* Name of the check event. */
	double low, high; /* Smallest and largest count of the check event in a pass. */
	double allowed_percent;
	size_t shared; /* Number of events that were multiplexed nevertheless. */
	bool was_counted; /* The check event was counted in each pass. */
};

/* Checks the options. Returns 0, or the exit code after a message. */
TALLY_MUST_CHECK int stat_passes_check(
	const struct cli *cli, const struct command *command, const struct stat_job *job);
/* Runs all passes. The caller sets kernel, job, target and events of the session, which receives the counts of all
 * passes. */
TALLY_MUST_CHECK enum tally_status stat_passes_run(
	struct stat_session *session, struct stat_passes *passes, struct tally_error *err);
void stat_passes_print(struct text *t, const struct stat_passes *passes, const struct stat_style *style);

#endif

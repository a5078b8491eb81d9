/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stat_simulated_compare.h - compares two commands by simulated events, which do not vary from run to run: a gate for
 * builds (stat --simulate --compare A B).
 *
 * A and B are command lines, or .json files written by stat --simulate -j -o. By default the gate checks instructions,
 * or all events of -e, and fails if B exceeds A in one of them by more than --threshold percent.
 *
 *	struct stat_simulated_gate gate;
 *	status = stat_simulated_compare(&sim, &job, &text, &style, &gate, err);
 */
#ifndef VERBS_STAT_STAT_SIMULATED_COMPARE_H
#define VERBS_STAT_STAT_SIMULATED_COMPARE_H

#include "cli/cli.h"
#include "kernel/counting/run_gate.h"
#include "tasks/counts/stat_rows.h"
#include "verbs/stat/stat_simulated.h"

#define STAT_THRESHOLD_DEFAULT 0.1 /* Percent. */

struct stat_simulated_gate { /* The result of a comparison. */
	enum run_verdict verdict;
	bool is_misused; /* --fail-if names an event that is not compared; nothing has been run. */
	int signal; /* Signal that ended the comparison; 0 if none. */
};

/* Parses the words after the argument of --compare: B and options. Returns 0, or the exit code after a message. */
int stat_simulated_compare_options(
	const struct cli *cli, const struct command *command, int argc, char **argv, int rest, struct stat_settings *s);
/* Returns INVALID if a command failed, or a file lacks counts that the gate needs. */
TALLY_MUST_CHECK enum tally_status stat_simulated_compare(struct stat_simulated *sim, const struct stat_job *job,
	struct text *t, const struct stat_style *style, struct stat_simulated_gate *gate, struct tally_error *err);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stat_simulated_compare.h - compares two commands by simulated events, which do not vary from run to run: a gate for
 * builds (stat --simulate --compare A B).
 *
 * A and B are command lines, or files that end in .json, which stat --simulate -j -o has written. The gate is the
 * instructions, or all events of -e: it has failed if B exceeds A in one of them by more than --threshold percent.
 *
 *	struct stat_simulated_gate gate;
 *	status = stat_simulated_compare(&sim, &job, &text, &style, &gate, err); // sides: the option, the command
 */
#ifndef VERBS_STAT_STAT_SIMULATED_COMPARE_H
#define VERBS_STAT_STAT_SIMULATED_COMPARE_H

#include "cli/cli.h"
#include "kernel/counting/run_gate.h"
#include "tasks/counts/stat_rows.h"
#include "verbs/stat/stat_simulated.h"

#define STAT_THRESHOLD_DEFAULT 0.1 /* percent */

struct stat_simulated_gate { /* what came out */
	enum run_verdict verdict;
	bool is_misused; /* --fail-if names what is not compared: nothing has run */
	int signal; /* that ended the comparison; 0: none */
};

/* Checks the words behind --compare's argument: B, and options. Returns 0 or the exit code of wrong usage. */
int stat_simulated_compare_options(
	const struct cli *cli, const struct command *command, int argc, char **argv, int rest, struct stat_settings *s);
/* INVALID: a command failed, or a file lacks what the gate needs. */
TALLY_MUST_CHECK enum tally_status stat_simulated_compare(struct stat_simulated *sim, const struct stat_job *job,
	struct text *t, const struct stat_style *style, struct stat_simulated_gate *gate, struct tally_error *err);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stat_compare.h - implements stat --compare 'A' 'B', which runs two command lines alternately and reports the
 * differences with confidence intervals.
 *
 * Each command line is run by sh -c. The order within a pair changes from pair to pair, so that a drift of the machine
 * affects both. kernel/counting/run_statistics.h computes the statistics.
 */
#ifndef VERBS_STAT_STAT_COMPARE_H
#define VERBS_STAT_STAT_COMPARE_H

#include "cli/commands.h"
#include "tasks/counts/stat_rows.h"
#include "verbs/stat/stat_run.h"

/* Parses the second command line, argv[rest], and options after it. Returns 0, or the exit code after a message. */
TALLY_MUST_CHECK int stat_compare_options(
	const struct cli *cli, const struct command *command, int argc, char **argv, int rest, struct stat_settings *s);
/* Must be called before the runs. Returns INVALID if --fail-if names an event that is not compared. */
TALLY_MUST_CHECK enum tally_status stat_compare_check(const struct stat_session *session, struct tally_error *err);
/* Runs the commands and appends the table to t, and the reasons for missing counts to reasons, one per line. The caller
 * sets kernel, job, target and events of the session. If a signal ended the runs, the signal of the session is set;
 * with --fail-if, its gate_code is set. Returns INVALID, after appending the table, if runs failed, because there is no
 * verdict then. */
TALLY_MUST_CHECK enum tally_status stat_compare(struct stat_session *session, const char *program, struct text *t,
	const struct stat_style *style, struct text *reasons, struct tally_error *err);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stat_compare.h - implements stat --compare 'A' 'B': it runs two command lines in turn and reports the differences,
 * with intervals.
 *
 * Each command line is run by sh -c. The order within a pair changes from pair to pair, so that a drift of the machine
 * affects both. The statistics are those of kernel/counting/run_statistics.h.
 */
#ifndef VERBS_STAT_STAT_COMPARE_H
#define VERBS_STAT_STAT_COMPARE_H

#include "cli/commands.h"
#include "tasks/counts/stat_rows.h"
#include "verbs/stat/stat_run.h"

/* Takes the second command line from argv[rest], and options after it. 0, or the exit code after the message. */
TALLY_MUST_CHECK int stat_compare_options(
	const struct cli *cli, const struct command *command, int argc, char **argv, int rest, struct stat_settings *s);
/* Before the runs. INVALID: --fail-if names what is not compared. */
TALLY_MUST_CHECK enum tally_status stat_compare_check(const struct stat_session *session, struct tally_error *err);
/* session: the caller sets kernel, settings, target and events; its signal is set if a signal ended the runs, and
 * its gate_code if --fail-if asks for one. INVALID,
 * with the table in t: runs failed, so there is no verdict. reasons: why counts are missing, one line per reason. */
TALLY_MUST_CHECK enum tally_status stat_compare(struct stat_session *session, const char *program, struct text *t,
	const struct stat_style *style, struct text *reasons, struct tally_error *err);

#endif

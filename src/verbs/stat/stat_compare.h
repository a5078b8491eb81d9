/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stat_compare.h - stat --compare 'A' 'B': runs two command lines in turn and says what differs, with intervals.
 *
 * Each command line is run by sh -c. The order within a pair changes from pair to pair, so that a drift of the machine
 * falls on both. The statistics are those of kernel/counting/run_statistics.h.
 */
#ifndef VERBS_STAT_STAT_COMPARE_H
#define VERBS_STAT_STAT_COMPARE_H

#include "cli/commands.h"
#include "tasks/counts/stat_rows.h"
#include "verbs/stat/stat_run.h"

/* Takes the second command line from argv[rest], and options after it. 0, or the exit code after the message. */
TALLY_MUST_CHECK int stat_compare_options(
	const struct cli *cli, const struct command *command, int argc, char **argv, int rest, struct stat_settings *s);
/* session: kernel, settings, target and events are set; its signal is set if one ended the runs. INVALID, with the table in t:
 * runs failed, so that there is no verdict. reasons: why counts are missing, in lines of the program. */
TALLY_MUST_CHECK enum tally_status stat_compare(struct stat_session *session, const char *program, struct text *t,
	const struct stat_style *style, struct text *reasons, struct tally_error *err);

#endif

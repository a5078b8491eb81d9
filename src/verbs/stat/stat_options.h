/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stat_options.h - declares the options of stat and their tables, and checks which of them cannot be used together.
 *
 * Strings of the settings are borrowed from argv; the caller frees the list of words.
 */
#ifndef VERBS_STAT_STAT_OPTIONS_H
#define VERBS_STAT_STAT_OPTIONS_H

#include "cli/commands.h"
#include "verbs/stat/stat_settings.h"

#define STAT_EXIT_INVALID (256 - EINVAL) /* what perf leaves with for a wrong target or run count */

extern const struct option_table stat_option_table;
extern const struct option_table stat_report_option_table;

/* Checks that at most one output format is given: 0, or the exit code after the message. */
int stat_form_check(const struct cli *cli, const struct command *command, const struct stat_settings *s);
/* Completes the job by what the settings and the command imply. 0, or the exit code after the message. */
int stat_job_complete(const struct cli *cli, const struct command *command, struct stat_job *job);

#endif

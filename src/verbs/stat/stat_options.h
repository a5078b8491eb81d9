/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stat_options.h - declares the option tables of stat, and checks for options that cannot be used together.
 *
 * Strings of the settings are borrowed from argv; the caller frees the list of words.
 */
#ifndef VERBS_STAT_STAT_OPTIONS_H
#define VERBS_STAT_STAT_OPTIONS_H

#include "cli/commands.h"
#include "verbs/stat/stat_settings.h"

#define STAT_EXIT_INVALID (256 - EINVAL) /* perf's exit code for an invalid target or run count. */

extern const struct option_table stat_option_table;
extern const struct option_table stat_report_option_table;

/* Checks that at most one output format is given. Returns 0, or the exit code after a message. */
int stat_form_check(const struct cli *cli, const struct command *command, const struct stat_settings *s);
/* Sets what the settings and the command imply for the job. Returns 0, or the exit code after a message. */
int stat_job_complete(const struct cli *cli, const struct command *command, struct stat_job *job);

#endif

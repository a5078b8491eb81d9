/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stat_simulate.h - implements stat --simulate, alone, with -r, and with --compare.
 */
#ifndef VERBS_STAT_STAT_SIMULATE_H
#define VERBS_STAT_STAT_SIMULATE_H

#include "cli/cli.h"
#include "verbs/stat/stat_settings.h"

/* Checks that the options of the job can be used together. Returns 0, or the exit code after a message. */
int stat_simulate_check(const struct cli *cli, const struct command *command, const struct stat_job *job);
/* Returns the exit code, which is the command's, or that of the verdict of --compare. */
int stat_simulate(const struct cli *cli, struct stat_job *job);

#endif

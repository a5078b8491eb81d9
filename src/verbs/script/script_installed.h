/* SPDX-License-Identifier: Apache-2.0 */
/*
 * script_installed.h - lists and runs the scripts that are installed with perf: `script -l`, `script record NAME`,
 * `script report NAME` and `script NAME`, which pipes the recording to the report.
 *
 * A script consists of two shell scripts, bin/NAME-record and bin/NAME-report, which call `perf`; a shell function of
 * that name calls this program instead. They are searched in PERF_EXEC_PATH, or else where packages install them.
 */
#ifndef VERBS_SCRIPT_SCRIPT_INSTALLED_H
#define VERBS_SCRIPT_SCRIPT_INSTALLED_H

#include "cli/cli.h"
#include "verbs/script/script_options.h"

/* Returns the exit code. */
int script_installed_list(const struct cli *cli);
/* words are the words after the options, at least one. Replaces this process by the shell; returns only on failure,
 * with the exit code. */
int script_installed_run(const struct cli *cli, const struct script_settings *settings, char **words);

#endif

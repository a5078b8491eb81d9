/* SPDX-License-Identifier: Apache-2.0 */
/*
 * script_installed.h - runs the scripts that are installed with perf, by name: `script -l`, `script record NAME`,
 * `script report NAME` and `script NAME`, which records into a pipe that its report reads.
 *
 * A script is two shell scripts, bin/NAME-record and bin/NAME-report, that call `perf`: here this is a shell function
 * that calls this program. They are in PERF_EXEC_PATH, else where packages install them.
 */
#ifndef VERBS_SCRIPT_SCRIPT_INSTALLED_H
#define VERBS_SCRIPT_SCRIPT_INSTALLED_H

#include "cli/cli.h"
#include "verbs/script/script_options.h"

/* The exit code. */
int script_installed_list(const struct cli *cli);
/* words: the words after the options, at least one. This process becomes the shell; the function returns only with the
 * exit code of a failure. */
int script_installed_run(const struct cli *cli, const struct script_settings *settings, char **words);

#endif

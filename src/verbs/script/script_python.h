/* SPDX-License-Identifier: Apache-2.0 */
/*
 * script_python.h - implements `script -s FILE`, which runs a Python script for perf on the events of a recording.
 *
 * The events are piped to the installed python3 as one JSON object per line. script_driver.py, which is embedded in
 * this program, reads them and calls the script's handlers.
 */
#ifndef VERBS_SCRIPT_SCRIPT_PYTHON_H
#define VERBS_SCRIPT_SCRIPT_PYTHON_H

#include "cli/cli.h"
#include "verbs/script/script_options.h"

/* Returns the exit code, which is the script's own unless that is 0. arguments are the script's, NULL-terminated. */
int script_python_run(const struct cli *cli, const struct script_settings *settings, char *const *arguments);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * script_python.h - implements `script -s FILE`: runs a Python script of perf's kind on the events of a recording.
 *
 * The installed python3 runs it; it gets the events as one JSON object per line, and script_driver.py, which is
 * embedded in this program, calls the script's handlers.
 */
#ifndef VERBS_SCRIPT_SCRIPT_PYTHON_H
#define VERBS_SCRIPT_SCRIPT_PYTHON_H

#include "cli/cli.h"
#include "verbs/script/script_options.h"

/* The exit status: the script's own where that is not 0. arguments: the script's, NULL-terminated. */
int script_python_run(const struct cli *cli, const struct script_settings *settings, char *const *arguments);

#endif

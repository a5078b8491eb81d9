/* SPDX-License-Identifier: Apache-2.0 */
/*
 * probe_look.h - lists possible probe points: functions (--funcs), source lines (--line) and variables (--vars).
 */
#ifndef VERBS_PROBE_PROBE_LOOK_H
#define VERBS_PROBE_PROBE_LOOK_H

#include "verbs/probe/probe_settings.h"

/* All return the exit code. */
int probe_functions_run(const struct cli *cli, const struct command *command, const struct probe_settings *settings);
int probe_lines_run(const struct cli *cli, const struct command *command, const struct probe_settings *settings);
int probe_variables_run(const struct cli *cli, const struct command *command, const struct probe_settings *settings);

#endif

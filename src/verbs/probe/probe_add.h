/* SPDX-License-Identifier: Apache-2.0 */
/*
 * probe_add.h - adds the probes of the given definitions (--add), or prints them in the kernel's syntax (--definition,
 * --bootconfig). All definitions are converted before the first probe is added.
 */
#ifndef VERBS_PROBE_PROBE_ADD_H
#define VERBS_PROBE_PROBE_ADD_H

#include "verbs/probe/probe_settings.h"

/* Returns the exit code. */
int probe_add_run(const struct cli *cli, const struct command *command, const struct probe_settings *settings);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * probe_add.h - adds the probes that definitions ask for (--add), or prints the kernel's definitions of them
 * (--definition, --bootconfig). All definitions are converted before the first one is added.
 */
#ifndef VERBS_PROBE_PROBE_ADD_H
#define VERBS_PROBE_PROBE_ADD_H

#include "verbs/probe/probe_settings.h"

/* Returns the exit code. */
int probe_add_run(const struct cli *cli, const struct command *command, const struct probe_settings *settings);

#endif

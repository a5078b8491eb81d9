/* SPDX-License-Identifier: Apache-2.0 */
/*
 * probe_list.h - lists the probes of the kernel or of the cache (--list), and removes probes (--del).
 */
#ifndef VERBS_PROBE_PROBE_LIST_H
#define VERBS_PROBE_PROBE_LIST_H

#include "verbs/probe/probe_settings.h"

/* Both return the exit code. */
int probe_list_run(const struct cli *cli, const struct probe_settings *settings);
int probe_remove_run(const struct cli *cli, const struct probe_settings *settings);

#endif

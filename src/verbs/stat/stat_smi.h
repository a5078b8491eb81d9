/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stat_smi.h - sets freeze_on_smi, which stops the CPU's counters during system management interrupts, for stat
 * --smi-cost: cycles then exclude these interrupts, while aperf includes them.
 *
 * Source: /sys/bus/event_source/devices/cpu/freeze_on_smi; see perf-stat(1), --smi-cost.
 */
#ifndef VERBS_STAT_STAT_SMI_H
#define VERBS_STAT_STAT_SMI_H

#include "kernel/system/kernel_seam.h"
#include "tally/status.h"

struct stat_smi {
	bool is_lacking; /* The PMU of this machine has no freeze_on_smi. */
	bool was_switched; /* freeze_on_smi was off and has been switched on, so stat_smi_restore must switch it off. */
};

/* Returns UNSUPPORTED, and sets is_lacking, if the PMU has no freeze_on_smi, and DENIED if it cannot be switched on. */
TALLY_MUST_CHECK enum tally_status stat_smi_freeze(
	const struct kernel_seam *kernel, struct stat_smi *smi, struct tally_error *err);
void stat_smi_restore(const struct kernel_seam *kernel, struct stat_smi *smi);

#endif

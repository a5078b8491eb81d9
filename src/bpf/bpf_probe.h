/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bpf_probe.h - finds out whether this process can load BPF programs on this kernel, by loading and unloading a small
 * one. The result determines what `--call-graph auto` chooses.
 */
#ifndef BPF_BPF_PROBE_H
#define BPF_BPF_PROBE_H

#include "kernel/system/kernel_seam.h"

/*
 * Returns OK, or an error as in bpf_load.h. what is the option or verb that needs BPF. Runs for some milliseconds if
 * BPF is allowed.
 */
TALLY_MUST_CHECK enum tally_status bpf_probe(
	const struct kernel_seam *kernel, const char *what, struct tally_error *err);

#endif

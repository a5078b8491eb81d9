/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bpf_probe.h - finds out whether this process can load BPF programs on this kernel, by loading a small one;
 * `--call-graph auto` decides by that. Nothing stays in the kernel.
 */
#ifndef BPF_BPF_PROBE_H
#define BPF_BPF_PROBE_H

#include "kernel/system/kernel_seam.h"

/* Returns OK, or the refusal of bpf_load.h. what: the option or verb that needs BPF. Takes some milliseconds if BPF
 * is allowed. */
TALLY_MUST_CHECK enum tally_status bpf_probe(
	const struct kernel_seam *kernel, const char *what, struct tally_error *err);

#endif

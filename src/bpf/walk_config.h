/* SPDX-License-Identifier: Apache-2.0 */
/*
 * walk_config.h - defines what whoever walks stacks in the kernel tells walk_tables.c about this machine.
 */
#ifndef BPF_WALK_CONFIG_H
#define BPF_WALK_CONFIG_H

#include "kernel/system/kernel_seam.h"

struct arch;

struct walk_tables_config {
	const struct kernel_seam *kernel;
	const struct arch *arch; /* of this machine */
	const char *build_id_dir; /* NULL: ~/.debug */
};

#endif

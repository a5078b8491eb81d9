/* SPDX-License-Identifier: Apache-2.0 */
/*
 * walk_config.h - defines what whoever walks stacks in the kernel tells walk_tables.c about this machine.
 */
#ifndef BPF_WALK_CONFIG_H
#define BPF_WALK_CONFIG_H

#include "bpf/python_frames.h"
#include "code/binary_store.h"
#include "kernel/system/kernel_seam.h"

struct arch;

struct walk_tables_config {
	const struct kernel_seam *kernel;
	const struct arch *arch; /* of this machine */
	struct binary_store_options store; /* of the files that stacks lead to */
	struct python_map python; /* put NULL: Python frames are not looked for */
};

#endif

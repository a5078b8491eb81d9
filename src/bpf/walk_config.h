/* SPDX-License-Identifier: Apache-2.0 */
/*
 * walk_config.h - defines the configuration of walk_tables.c, which is used by all modules that unwind stacks in BPF
 * programs.
 */
#ifndef BPF_WALK_CONFIG_H
#define BPF_WALK_CONFIG_H

#include "bpf/python_frames.h"
#include "code/binary_store.h"
#include "kernel/system/kernel_seam.h"

struct arch;

struct walk_tables_config {
	const struct kernel_seam *kernel;
	const struct arch *arch; /* Architecture of this machine. */
	struct binary_store_options store; /* Options for loading the files in which stack addresses lie. */
	/* Destination of Python symbols; if its put is NULL, Python frames are not recognized. */
	struct python_map python;
};

#endif

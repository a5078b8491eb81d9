/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kernel_maps.h - finds where the running kernel's text and modules are, from /proc/kallsyms and /proc/modules. It
 * finds nothing if the kernel hides its addresses (kptr_restrict), which then read as 0. Source: proc(5).
 */
#ifndef KERNEL_RECORDING_KERNEL_MAPS_H
#define KERNEL_RECORDING_KERNEL_MAPS_H

#include <tally/status.h>

#include "base/bytes.h"
#include "kernel/system/kernel_seam.h"

struct kernel_map {
	uint64_t start, len, pgoff;
	struct tally_str name; /* "[kernel.kallsyms]_text", a module's file, or "[module]" if it has none */
};

/* list: /proc/kallsyms, or the kernel's part of it, if it is known; empty: it is read. */
TALLY_MUST_CHECK enum tally_status kernel_maps_each(const struct kernel_seam *kernel, struct tally_str list,
	enum tally_status (*visit)(void *context, const struct kernel_map *map, struct tally_error *err), void *context,
	struct tally_error *err);

#endif

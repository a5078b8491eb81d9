/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kernel_maps.h - finds the addresses of the running kernel and its modules in /proc/kallsyms and /proc/modules. It
 * finds nothing if the kernel hides its addresses (kptr_restrict), which then read as 0. Source: proc(5).
 */
#ifndef KERNEL_RECORDING_KERNEL_MAPS_H
#define KERNEL_RECORDING_KERNEL_MAPS_H

#include <tally/status.h>

#include "base/bytes.h"
#include "kernel/system/kernel_seam.h"

struct kernel_map {
	uint64_t start, len, pgoff; /* As in PERF_RECORD_MMAP. */
	/* "[kernel.kallsyms]_text" or "[kernel.kallsyms]_stext" for the kernel; for a module, its file, or its name in
	 * brackets ("[kvm]") if the file is unknown. Valid during the visit. */
	struct tally_str name;
};

/* Visits the kernel and its modules until visit fails, and returns the status of visit. list is the text of
 * /proc/kallsyms, or at least its part for the kernel, if the caller has read it; if it is empty, the file is read. */
TALLY_MUST_CHECK enum tally_status kernel_maps_each(const struct kernel_seam *kernel, struct tally_str list,
	enum tally_status (*visit)(void *context, const struct kernel_map *map, struct tally_error *err), void *context,
	struct tally_error *err);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * probe_blacklist.h - reads the list in debugfs of kernel functions that cannot be probed.
 *
 * The list owns its text (probe_blacklist_deinit). It is empty if debugfs cannot be read; the kernel then refuses
 * probes.
 *
 *	struct probe_blacklist list;
 *	probe_blacklist_read(kernel, &list);
 *	if (probe_blacklist_has(&list, address, STR("do_nmi"))) ...
 */
#ifndef KERNEL_PROBES_PROBE_BLACKLIST_H
#define KERNEL_PROBES_PROBE_BLACKLIST_H

#include "base/bytes.h"
#include "kernel/system/kernel_seam.h"

struct probe_blacklist {
	char *text; /* Contents of kprobes/blacklist; NULL if debugfs cannot be read. */
};

void probe_blacklist_read(const struct kernel_seam *kernel, struct probe_blacklist *list);
void probe_blacklist_deinit(struct probe_blacklist *list);
/* Looks up a function by its run-time address or, if address is 0, by its name. */
bool probe_blacklist_has(const struct probe_blacklist *list, uint64_t address, struct tally_str name);

#endif

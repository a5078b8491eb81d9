/* SPDX-License-Identifier: Apache-2.0 */
/*
 * probe_blacklist.h - knows the functions of the kernel that take no probes, as debugfs lists them.
 *
 * The list owns its text (probe_blacklist_deinit). Where debugfs cannot be read it is empty, and the kernel refuses.
 *
 *	struct probe_blacklist list;
 *	probe_blacklist_read(kernel, &list);
 *	if (probe_blacklist_has(&list, address, "do_nmi")) ...
 */
#ifndef KERNEL_PROBES_PROBE_BLACKLIST_H
#define KERNEL_PROBES_PROBE_BLACKLIST_H

#include "base/bytes.h"
#include "kernel/system/kernel_seam.h"

struct probe_blacklist {
	char *text; /* NULL: none */
};

void probe_blacklist_read(const struct kernel_seam *kernel, struct probe_blacklist *list);
void probe_blacklist_deinit(struct probe_blacklist *list);
/* By where the function runs, or, if address is 0, by its name. */
bool probe_blacklist_has(const struct probe_blacklist *list, uint64_t address, struct tally_str name);

#endif

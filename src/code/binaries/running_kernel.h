/* SPDX-License-Identifier: Apache-2.0 */
/*
 * running_kernel.h - provides the symbol list of the running kernel to recorders: from the cache, or else from the
 * kernel, in which case the list is also cached (kernel_list_cache.h) for later reports.
 *
 *	struct running_kernel kernel;
 *	if (running_kernel_open(&kernel)) ... kernel.text ...
 *	running_kernel_close(&kernel);
 */
#ifndef CODE_BINARIES_RUNNING_KERNEL_H
#define CODE_BINARIES_RUNNING_KERNEL_H

#include "code/binaries/kernel_list_cache.h"

struct running_kernel {
	struct tally_str text; /* Lines of the kernel, and possibly of modules; addresses may be hidden. */
	struct kernel_list kept;
	char *live; /* The list as read from the kernel, malloc'ed; NULL if it is from the cache. */
};

/* Opens the list. Returns false if it cannot be read. */
bool running_kernel_open(struct running_kernel *kernel);
/* May also be called if the kernel was not opened. */
void running_kernel_close(struct running_kernel *kernel);

#endif

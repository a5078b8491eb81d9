/* SPDX-License-Identifier: Apache-2.0 */
/*
 * running_kernel.h - gives recorders the symbol list of the running kernel: from the cache, or from the kernel, and
 * then stores it in the cache (kernel_list_cache.h) for later reports.
 *
 *	struct running_kernel kernel;
 *	if (running_kernel_open(&kernel)) ... kernel.text ...
 *	running_kernel_close(&kernel);
 */
#ifndef CODE_BINARIES_RUNNING_KERNEL_H
#define CODE_BINARIES_RUNNING_KERNEL_H

#include "code/binaries/kernel_list_cache.h"

struct running_kernel {
	struct tally_str text; /* the kernel's lines, and maybe those of modules; addresses may be hidden */
	struct kernel_list kept;
	char *live; /* a list that could not be cached */
};

/* False: it cannot be read. */
bool running_kernel_open(struct running_kernel *kernel);
/* May also be called if the kernel was not opened. */
void running_kernel_close(struct running_kernel *kernel);

#endif

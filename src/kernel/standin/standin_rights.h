/* SPDX-License-Identifier: Apache-2.0 */
/*
 * standin_rights.h - finds out whether a program that has just been executed lacks the rights that its file gives
 * (set-user-ID, set-group-ID, capabilities), which the kernel withholds from programs that are traced.
 *
 *	if (program_lacks_rights(&s->seam, pid, path, sizeof(path))) ...	// path: "/usr/bin/sudo"
 */
#ifndef KERNEL_STANDIN_STANDIN_RIGHTS_H
#define KERNEL_STANDIN_STANDIN_RIGHTS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "kernel/system/kernel_seam.h"

/* False also if that cannot be found out, and where the rights would be withheld without a tracer: on a file system
 * mounted nosuid, or under no_new_privs. */
bool program_lacks_rights(const struct kernel_seam *kernel, pid_t pid, char *path, size_t path_bytes);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * standin_rights.h - finds out whether a program that was just executed lacks the privileges of its file (set-user-ID,
 * set-group-ID, capabilities), which the kernel withholds from traced programs.
 *
 *	if (program_lacks_rights(&s->seam, pid, path, sizeof(path))) ...	// path: "/usr/bin/sudo"
 */
#ifndef KERNEL_STANDIN_STANDIN_RIGHTS_H
#define KERNEL_STANDIN_STANDIN_RIGHTS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "kernel/system/kernel_seam.h"

/* Sets path to the file of the program. Returns false if it lacks no privileges, if this is unknown, or if the kernel
 * would also withhold them without a tracer: on a file system that is mounted nosuid, or with no_new_privs. */
bool program_lacks_rights(const struct kernel_seam *kernel, pid_t pid, char *path, size_t path_bytes);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * program_path.h - finds the file of a command as execvp does.
 *
 *	char path[PATH_MAX];
 *	if (program_path_find("ls", path)) ...
 */
#ifndef KERNEL_SYSTEM_PROGRAM_PATH_H
#define KERNEL_SYSTEM_PROGRAM_PATH_H

#include <limits.h>
#include <stdbool.h>

/* False, with errno as execvp sets it: no regular file of that name may be run, in the folders of $PATH or, with a slash in it, where it says. */
bool program_path_find(const char *command, char path[PATH_MAX]);

#endif

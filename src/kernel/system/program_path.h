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

/* Searches the directories of $PATH, unless command contains a slash. Returns false and sets errno as execvp(3) does if
 * there is no executable regular file. */
bool program_path_find(const char *command, char path[PATH_MAX]);

#endif

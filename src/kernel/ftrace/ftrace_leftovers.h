/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ftrace_leftovers.h - names the instances of tracefs that sessions make, and removes those of sessions that were
 * killed. The instance of a running session is not removed, because its open pipe makes it busy.
 *
 *	ftrace_leftovers_remove(&files, diag);
 */
#ifndef KERNEL_FTRACE_FTRACE_LEFTOVERS_H
#define KERNEL_FTRACE_FTRACE_LEFTOVERS_H

#include "base/diag.h"
#include "kernel/ftrace/ftrace_files.h"

#define FTRACE_INSTANCES "instances"
#define FTRACE_NAME_MAX	 80 /* Size of the name of an instance, including the NUL. */

/* Returns whether a file of tracefs is a list with one function or PID per line, to which a setting is appended. */
bool ftrace_is_list(const char *file);

/* Formats the directory of the session of this process, relative to tracefs. with_top says that the session also
 * changes the top level of tracefs. */
void ftrace_instance_name(bool with_top, char name[FTRACE_NAME_MAX]);
/* Returns the PID of another session that changes the top level; 0 if there is none. */
int ftrace_other_at_top(const struct ftrace_files *files);
/* Removes the instances of killed sessions, resets what they changed at the top level, and reports this in diag. */
void ftrace_leftovers_remove(const struct ftrace_files *files, struct diag *diag);

#endif

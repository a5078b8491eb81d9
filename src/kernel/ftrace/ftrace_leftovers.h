/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ftrace_leftovers.h - names the instances of tracefs that sessions make, and removes those of sessions that were
 * killed. An instance whose session lives is busy, because its pipe is open: it stays.
 *
 *	ftrace_leftovers_remove(&files, diag);
 */
#ifndef KERNEL_FTRACE_FTRACE_LEFTOVERS_H
#define KERNEL_FTRACE_FTRACE_LEFTOVERS_H

#include "base/diag.h"
#include "kernel/ftrace/ftrace_files.h"

#define FTRACE_INSTANCES "instances"
#define FTRACE_NAME_MAX	 80
/* Whether a file has one function or PID in each line, so that a write adds to it. */
bool ftrace_is_list(const char *file);

/* The folder of this process's session, below tracefs. with_top: it changes the top of tracefs, too. */
void ftrace_instance_name(bool with_top, char name[FTRACE_NAME_MAX]);
/* The PID of another session that changes the top; 0: there is none. */
int ftrace_other_at_top(const struct ftrace_files *files);
void ftrace_leftovers_remove(const struct ftrace_files *files, struct diag *diag);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trace_files.h - finds the files behind the descriptors of traced processes: from the calls that open, copy and close
 * them, and, for those that were open before, from /proc when the trace begins. Where our BPF program traces, its records
 * have the paths of arguments, and this is for descriptors in memory (poll).
 */
#ifndef VERBS_TRACE_TRACE_FILES_H
#define VERBS_TRACE_TRACE_FILES_H

#include "verbs/trace/trace_job.h"

/* The callback of struct syscall_print_options; context is the job. Empty: it is not known. Valid until the next call. */
struct tally_str trace_files_find(void *context, uint32_t pid, int fd);
/* The callback for texts of files; context is not used. */
bool trace_files_text(void *context, uint32_t pid, const struct syscall_named_file *named, char *room, size_t bytes,
	struct tally_str *text);
/* Takes what a call that has returned does to descriptors. False: out of memory. */
bool trace_files_learn(struct trace_job *job, int32_t pid, const struct syscall_call *call);
/* Reads which files a process that has not executed its program yet will have then. False: out of memory. */
bool trace_files_expect(struct trace_job *job, int32_t pid);
/* Reads which files the processes of these threads have. False: out of memory. */
bool trace_files_begin(struct trace_job *job, const pid_t *tids, size_t count);

#endif

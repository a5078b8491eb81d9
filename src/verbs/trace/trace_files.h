/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trace_files.h - determines the files of the descriptors of traced processes: from the calls that open, copy and close
 * them, and, for those that were open before, from /proc when the trace begins. Records of the BPF program contain the
 * paths of arguments, so with them this module is used only for descriptors in memory (poll).
 */
#ifndef VERBS_TRACE_TRACE_FILES_H
#define VERBS_TRACE_TRACE_FILES_H

#include "verbs/trace/trace_job.h"

/*
 * Callback of struct syscall_print_options; context is the struct trace_job. Returns the path of the file, which is
 * valid until the descriptor changes, or an empty text if the file is not known.
 */
struct tally_str trace_files_find(void *context, uint32_t pid, int fd);
/*
 * Callback of struct syscall_print_options that reads a text which is stored in a file; context is not used. Sets text
 * to the text in room, which has the given number of bytes. Returns false if the text cannot be read.
 */
bool trace_files_text(void *context, uint32_t pid, const struct syscall_named_file *named, char *room, size_t bytes,
	struct tally_str *text);
/* Applies the effects of a call that has returned on the descriptors of process pid. Returns false if out of memory. */
bool trace_files_learn(struct trace_job *job, int32_t pid, const struct syscall_call *call);
/* Reads the files that a process will have after it has executed its program. Returns false if out of memory. */
bool trace_files_expect(struct trace_job *job, int32_t pid);
/* Reads the files of the processes of these threads. Returns false if out of memory. */
bool trace_files_begin(struct trace_job *job, const pid_t *tids, size_t count);

#endif

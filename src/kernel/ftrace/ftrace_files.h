/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ftrace_files.h - writes the files of tracefs, and explains why one of them refuses a value.
 *
 * Paths are below tracefs ("current_tracer", "instances/x/trace_pipe"). One thread.
 *
 *	status = ftrace_file_write(&tracefs, "tracing_on", "0", false, err);
 */
#ifndef KERNEL_FTRACE_FTRACE_FILES_H
#define KERNEL_FTRACE_FTRACE_FILES_H

#include "kernel/system/kernel_seam.h"

#define FTRACE_PATH 512

struct ftrace_files {
	const struct kernel_seam *kernel;
	const char *top; /* where tracefs is */
};

/* UNSUPPORTED if there is no tracefs. */
TALLY_MUST_CHECK enum tally_status ftrace_files_find(
	const struct kernel_seam *kernel, struct ftrace_files *files, struct tally_error *err);
/* Writes a line, behind those that are there or in their place. An empty value empties the file.
 * NOT_FOUND: the kernel can trace no function of this name; UNSUPPORTED: there is no such file; DENIED: no rights. */
TALLY_MUST_CHECK enum tally_status ftrace_file_write(const struct ftrace_files *files, const char *path,
	const char *value, bool is_appended, struct tally_error *err);
/* As write(2) would say it: 0, or an errno. */
int ftrace_file_put(const struct ftrace_files *files, const char *path, const char *value, bool is_appended);
bool ftrace_file_exists(const struct ftrace_files *files, const char *path);
/* From malloc, without the last newline. */
TALLY_MUST_CHECK enum tally_status ftrace_file_text(
	const struct ftrace_files *files, const char *path, char **text, struct tally_error *err);
/* Whether a list of words, such as available_tracers, has this one. */
bool ftrace_file_has_word(const struct ftrace_files *files, const char *path, const char *word);
/* -1 and errno; does not block. */
int ftrace_file_open(const struct ftrace_files *files, const char *path);
/* mkdir and rmdir: 0, or an errno. */
int ftrace_folder_make(const struct ftrace_files *files, const char *path);
int ftrace_folder_remove(const struct ftrace_files *files, const char *path);

#endif

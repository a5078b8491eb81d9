/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ftrace_files.h - writes the files of tracefs, and explains why one of them refuses a value.
 *
 * Paths are relative to tracefs ("current_tracer", "instances/x/trace_pipe"). One thread.
 *
 *	status = ftrace_file_write(&tracefs, "tracing_on", "0", false, err);
 */
#ifndef KERNEL_FTRACE_FTRACE_FILES_H
#define KERNEL_FTRACE_FTRACE_FILES_H

#include "kernel/system/kernel_seam.h"

#define FTRACE_PATH 512

struct ftrace_files {
	const struct kernel_seam *kernel;
	const char *top; /* Directory of tracefs. */
};

/* Finds tracefs; TALLY_UNSUPPORTED if it is not mounted. */
TALLY_MUST_CHECK enum tally_status ftrace_files_find(
	const struct kernel_seam *kernel, struct ftrace_files *files, struct tally_error *err);
/* Writes value as a line, which is appended to the file or replaces its text. An empty value empties the file. Returns
 * TALLY_NOT_FOUND if the kernel cannot trace a function of this name, TALLY_UNSUPPORTED if the file does not exist, and
 * TALLY_DENIED if a permission is missing. */
TALLY_MUST_CHECK enum tally_status ftrace_file_write(const struct ftrace_files *files, const char *path,
	const char *value, bool is_appended, struct tally_error *err);
/* Writes a line as ftrace_file_write does, but returns 0 or an errno. */
int ftrace_file_put(const struct ftrace_files *files, const char *path, const char *value, bool is_appended);
bool ftrace_file_exists(const struct ftrace_files *files, const char *path);
/* Reads a file into memory from malloc, without the last newline. */
TALLY_MUST_CHECK enum tally_status ftrace_file_text(
	const struct ftrace_files *files, const char *path, char **text, struct tally_error *err);
/* Returns whether a file with a list of words, such as available_tracers, contains word. */
bool ftrace_file_has_word(const struct ftrace_files *files, const char *path, const char *word);
/* Opens a file for reading without blocking; returns -1 and sets errno on failure. */
int ftrace_file_open(const struct ftrace_files *files, const char *path);
/* Call mkdir(2) and rmdir(2); both return 0 or an errno. */
int ftrace_folder_make(const struct ftrace_files *files, const char *path);
int ftrace_folder_remove(const struct ftrace_files *files, const char *path);

#endif

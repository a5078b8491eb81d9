/* SPDX-License-Identifier: Apache-2.0 */
/*
 * output_file.h - writes files atomically: a path names either the old file or the complete new one.
 *
 * A file is written next to its place, under a name that ends in ".tally-PID", and renamed when it is complete, so the
 * old file is preserved after a full disk, a failed write or a lack of memory. Standard output, pipes and devices are
 * written directly. The input is never replaced.
 *
 *	status = output_file_open(path, input, &file, err);
 *	... write to file.fd ...
 *	status = output_file_finish(&file, status, err);   // removes the file after a failure
 */
#ifndef CLI_OUTPUT_FILE_H
#define CLI_OUTPUT_FILE_H

#include <stdbool.h>
#include <tally/status.h>

#include "base/text.h"
#include "cli/cli.h"

struct output_file {
	int fd; /* -1 if not open. */
	char *place, *beside; /* Final and temporary path; NULL for standard output, a pipe or a device. */
};

/* path NULL or "-" selects standard output. input is NULL if there is none. Returns INVALID if path is the input. */
TALLY_MUST_CHECK enum tally_status output_file_open(
	const char *path, const char *input, struct output_file *file, struct tally_error *err);
static inline bool output_file_is_stdout(const struct output_file *file)
{
	return file->fd == 1;
}
/* Returns whether path names the input, a regular file. input is NULL if there is none. */
bool output_file_is_input(const char *path, const char *input);
/* Returns the path of the incomplete file, for callers that open it by name: path itself if it is written directly. */
const char *output_file_name(const struct output_file *file, const char *path);
/* Closes the file, and renames it to its final path unless status, the result of writing, is a failure or memory has
 * run out. A failed status is returned without changing err. */
TALLY_MUST_CHECK enum tally_status output_file_finish(
	struct output_file *file, enum tally_status status, struct tally_error *err);

/* Writes the rest of a text, frees it and finishes the file. Returns 0, or the exit code after a message. status is the
 * result of making the text; unless it is TALLY_OK, the file is discarded and 0 is returned, because the caller reports
 * the failure. */
int output_file_finish_text(
	const struct cli *cli, struct text *t, struct output_file *file, const char *path, enum tally_status status);

#endif

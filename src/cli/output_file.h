/* SPDX-License-Identifier: Apache-2.0 */
/*
 * output_file.h - writes files as a whole: a path names either the old file or the complete new one.
 *
 * A file is written beside its place, under a name that ends in ".tally-PID", and takes its name when it is complete:
 * after a full disk, a failed write or a lack of memory the old file is still there. Standard output, pipes and devices
 * are written as they are. The input is never replaced.
 *
 *	status = output_file_open(path, input, &file, err);
 *	... write to file.fd ...
 *	status = output_file_finish(&file, status, err);   // after a failure: removed
 */
#ifndef CLI_OUTPUT_FILE_H
#define CLI_OUTPUT_FILE_H

#include <stdbool.h>
#include <tally/status.h>

#include "base/text.h"
#include "cli/cli.h"

struct output_file {
	int fd; /* -1: not open (any more) */
	char *place, *beside; /* NULL: standard output, a pipe or a device */
};

/* path NULL or "-": standard output. INVALID: it is the input itself (NULL: there is none), which stays as it is. */
TALLY_MUST_CHECK enum tally_status output_file_open(
	const char *path, const char *input, struct output_file *file, struct tally_error *err);
static inline bool output_file_is_stdout(const struct output_file *file)
{
	return file->fd == 1;
}
/* Whether a path names the input, a regular file (NULL: there is none). */
bool output_file_is_input(const char *path, const char *input);
/* The path of the incomplete file, for callers that open it by name. */
const char *output_file_name(const struct output_file *file, const char *path);
/* Closes the file, which takes its name if all went well and memory never ran out. status: the result of the writing;
 * if it is a failure, it is returned and err stays as it is. */
TALLY_MUST_CHECK enum tally_status output_file_finish(
	struct output_file *file, enum tally_status status, struct tally_error *err);

/* Writes the rest of a text, frees it and finishes the file. Returns the exit code, after a message. status: the result
 * of making the text; unless it is TALLY_OK, the file is discarded and 0 is returned without a message, because the
 * caller reports the failure. */
int output_file_finish_text(
	const struct cli *cli, struct text *t, struct output_file *file, const char *path, enum tally_status status);

#endif

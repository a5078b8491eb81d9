/*
 * output_file.h - files that a verb writes as a whole: opened not to destroy its input, discarded after a failure.
 *
 *	status = output_file_open(path, input, &fd, err);
 *	if (failed) output_file_discard(path);
 */
#ifndef CLI_OUTPUT_FILE_H
#define CLI_OUTPUT_FILE_H

#include <tally/status.h>

/* Empty, to write. path NULL or "-": standard output. INVALID: it is the input itself, which stays as it is. */
TALLY_MUST_CHECK enum tally_status output_file_open(
	const char *path, const char *input, int *fd, struct tally_error *err);
/* Removes a file; a device or a pipe stays. */
void output_file_discard(const char *path);

#endif

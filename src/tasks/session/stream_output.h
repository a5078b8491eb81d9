/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stream_output.h - writes a recording as a stream if its path cannot be read back or written twice: standard output
 * ("-"), a descriptor (/dev/stdout, /dev/fd/N), a FIFO, a socket, a terminal. Such a recording has the format for pipes
 * and is written sequentially.
 *
 *	if (stream_output_is_named(path)) status = stream_output_open(path, &fd, err);
 */
#ifndef TASKS_SESSION_STREAM_OUTPUT_H
#define TASKS_SESSION_STREAM_OUTPUT_H

#include <stdbool.h>
#include <tally/status.h>

/* Returns the given name of the output, otherwise "-" if standard output is a pipe, otherwise perf.data. */
const char *stream_output_name(const char *named);
/* Returns whether the path denotes a stream. */
bool stream_output_is_named(const char *path);
/* Opens the stream; the caller owns the descriptor. If it is standard output, that is redirected to standard error from
 * then on, so that a command's output does not mix with the stream. Opening a FIFO waits for its reader. */
TALLY_MUST_CHECK enum tally_status stream_output_open(const char *path, int *fd, struct tally_error *err);

#endif

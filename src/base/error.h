/* SPDX-License-Identifier: Apache-2.0 */
/*
 * error.h - fills and prefixes struct tally_error. Not for printing: the library never prints. All accept err == NULL
 * and return the status, so that a failure is one statement:
 *
 *	return error_set(err, TALLY_NOT_FOUND, "no event '%s'", name);
 */
#ifndef BASE_ERROR_H
#define BASE_ERROR_H

#include <stdbool.h>
#include <stddef.h>
#include <tally/status.h>

enum tally_status error_set(struct tally_error *err, enum tally_status status, const char *format, ...)
	TALLY_PRINTF(3, 4);

/* Adds ": " and strerror(errnum) to the text. */
enum tally_status error_set_errno(
	struct tally_error *err, enum tally_status status, int errnum, const char *format, ...) TALLY_PRINTF(4, 5);

/* What strerror says, from any thread: static, or in the buffer. */
const char *error_describe(int errnum, char *buffer, size_t size);

/* For input: offset in bytes from the start of the file or stream; the text gets " at offset 0x..." appended. */
enum tally_status error_set_at(
	struct tally_error *err, enum tally_status status, uint64_t offset, const char *format, ...) TALLY_PRINTF(4, 5);

/* Puts "context: " before the text that is there. Returns err's status (TALLY_OK if err is NULL). */
enum tally_status error_prefix(struct tally_error *err, const char *format, ...) TALLY_PRINTF(2, 3);

enum tally_status error_nomem(struct tally_error *err);
/* Whether error_nomem was called in any thread since the program began: without memory a cache may stay empty, or a
 * small file of /proc seem absent, without a message. main checks this before it ends with status 0. */
bool error_memory_ran_out(void);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * error.h - fills and prefixes struct tally_error, which the caller prints; the library never prints. All functions
 * accept err == NULL and return the status, so that a failure is one statement:
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

/* Appends ": " and strerror(errnum) to the text. */
enum tally_status error_set_errno(
	struct tally_error *err, enum tally_status status, int errnum, const char *format, ...) TALLY_PRINTF(4, 5);

/*
 * Returns the description of an errno value, which is static or in buffer. Unlike strerror, it may be called from any
 * thread.
 */
const char *error_describe(int errnum, char *buffer, size_t size);

/*
 * Reports an error in the input at offset, in bytes from the start of the file or stream. Appends " at offset 0x..." to
 * the text.
 */
enum tally_status error_set_at(
	struct tally_error *err, enum tally_status status, uint64_t offset, const char *format, ...) TALLY_PRINTF(4, 5);

/* Inserts "context: " before the existing text. Returns the status of err, TALLY_OK if err is NULL. */
enum tally_status error_prefix(struct tally_error *err, const char *format, ...) TALLY_PRINTF(2, 3);

enum tally_status error_nomem(struct tally_error *err);
/*
 * Returns true if error_nomem was called in any thread since the program began. Without memory, a cache may stay empty
 * or a small file of /proc may seem absent without a message, so main checks this before it exits with status 0.
 */
bool error_memory_ran_out(void);

#endif

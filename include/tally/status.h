/* SPDX-License-Identifier: Apache-2.0 */
/*
 * status.h - defines how the functions of the library report failure.
 *
 * A function that can fail returns enum tally_status and takes a struct tally_error *err as its last parameter.
 * The error belongs to the caller, has a fixed size and may be NULL. Outputs are unchanged on failure.
 *
 *	struct tally_error err;
 *	if (tally_x(..., &err) != TALLY_OK)
 *		fprintf(stderr, "%s\n", err.text);
 */
#ifndef TALLY_STATUS_H
#define TALLY_STATUS_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum tally_status {
	TALLY_OK = 0,
	TALLY_END, /* There are no more items; not a failure. */
	TALLY_NOMEM, /* Memory ran out. */
	TALLY_IO, /* A system call failed; errnum has its errno. */
	TALLY_CORRUPT, /* The input is malformed at offset. */
	TALLY_UNSUPPORTED, /* The machine, the kernel or this build lacks the feature. */
	TALLY_DENIED, /* A permission is missing, which text names. */
	TALLY_NOT_FOUND, /* There is no such file, event, process, symbol ... */
	TALLY_INVALID, /* An argument is not valid. */
	TALLY_LIMIT, /* A limit was reached, which text names. */
};

#define TALLY_NO_OFFSET UINT64_MAX

struct tally_error {
	enum tally_status status;
	int errnum; /* errno of the system call, or 0. */
	uint64_t offset; /* Byte offset in the input, or TALLY_NO_OFFSET. */
	char text[480]; /* One sentence without a newline. */
};

#define TALLY_MUST_CHECK   __attribute__((warn_unused_result))
#define TALLY_PRINTF(f, a) __attribute__((format(printf, f, a)))
#define TALLY_API	   __attribute__((visibility("default")))

#ifdef __cplusplus
}
#endif

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * status.h - defines how every tally function reports failure.
 *
 * A function that can fail returns enum tally_status and takes a struct tally_error *err as its last parameter.
 * The error belongs to the caller, has a fixed size and may be NULL. Outputs are untouched on failure. Threads: a
 * value.
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
	TALLY_END, /* no more items; not a failure */
	TALLY_NOMEM, /* out of memory */
	TALLY_IO, /* a system call failed: see errnum */
	TALLY_CORRUPT, /* input breaks its own format: see offset */
	TALLY_UNSUPPORTED, /* the machine, the kernel or this build lacks it */
	TALLY_DENIED, /* a permission is missing; text names the gate */
	TALLY_NOT_FOUND, /* no such file, event, process, symbol ... */
	TALLY_INVALID, /* the caller's argument makes no sense */
	TALLY_LIMIT, /* a named bound was reached */
};

#define TALLY_NO_OFFSET UINT64_MAX

struct tally_error {
	enum tally_status status;
	int errnum; /* errno of the system call, 0 if none */
	uint64_t offset; /* byte offset in the input, TALLY_NO_OFFSET if none */
	char text[480]; /* one sentence, no newline */
};

#define TALLY_MUST_CHECK   __attribute__((warn_unused_result))
#define TALLY_PRINTF(f, a) __attribute__((format(printf, f, a)))
#define TALLY_API	   __attribute__((visibility("default")))

#ifdef __cplusplus
}
#endif

#endif

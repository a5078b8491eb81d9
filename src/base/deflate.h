/* SPDX-License-Identifier: Apache-2.0 */
/*
 * deflate.h - compresses bytes in one call, in zlib's format, which browsers can decompress.
 *
 * It borrows the bytes, and the text keeps a failure. Any thread.
 *
 *	deflate_append(&text, (struct tally_bytes){data, len});
 */
#ifndef BASE_DEFLATE_H
#define BASE_DEFLATE_H

#include "base/text.h"

/* Adds the packed bytes (RFC 1950) to the text; out->failed: out of memory. */
void deflate_append(struct text *out, struct tally_bytes bytes);

#endif

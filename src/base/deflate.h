/* SPDX-License-Identifier: Apache-2.0 */
/*
 * deflate.h - compresses bytes in one call, in zlib's format, which browsers can decompress.
 *
 * It borrows the bytes, and a failure is sticky in the text. May be called from any thread.
 *
 *	deflate_append(&text, (struct tally_bytes){data, len});
 */
#ifndef BASE_DEFLATE_H
#define BASE_DEFLATE_H

#include "base/text.h"

/* Appends the compressed bytes (RFC 1950) to out; sets out->failed if memory runs out. */
void deflate_append(struct text *out, struct tally_bytes bytes);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#include "base/deflate.h"

#include <limits.h>
#include <stdlib.h>
#include <zlib.h>

#define DEFLATE_PACK_LEVEL   6 /* zlib's default level. */
#define DEFLATE_PACKED_BYTES 16384

void deflate_append(struct text *out, struct tally_bytes bytes)
{
	z_stream z = {0};
	uint8_t packed[DEFLATE_PACKED_BYTES];
	size_t rest = bytes.len;
	int result = Z_OK;
	if (deflateInit(&z, DEFLATE_PACK_LEVEL) != Z_OK) {
		out->failed = true;
		return;
	}
	z.next_in = (Bytef *)(uintptr_t)bytes.data; /* zlib does not write to its input. */
	while (result != Z_STREAM_END) {
		if (z.avail_in == 0) {
			z.avail_in = rest > UINT_MAX ? UINT_MAX : (uInt)rest;
			rest -= z.avail_in;
		}
		z.next_out = packed;
		z.avail_out = sizeof(packed);
		result = deflate(&z, rest == 0 ? Z_FINISH : Z_NO_FLUSH);
		text_bytes(out, (const char *)packed, sizeof(packed) - z.avail_out);
	}
	deflateEnd(&z);
}

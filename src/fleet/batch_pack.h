/* SPDX-License-Identifier: Apache-2.0 */
/*
 * batch_pack.h - compresses the bytes of a batch into one zstd frame, and decompresses untrusted frames.
 *
 * Results are appended to a text. Bad input: TALLY_CORRUPT if the bytes are not exactly one frame; TALLY_LIMIT if they
 * decompress to more than max_bytes, or need a window of more than 8 MiB. A build without zstd refuses both
 * (TALLY_UNSUPPORTED); batches are then sent uncompressed.
 *
 *	fleet_batch_decompress(body, FLEET_BATCH_BYTES, &raw, err);
 */
#ifndef FLEET_BATCH_PACK_H
#define FLEET_BATCH_PACK_H

#include "base/text.h"

/* Returns whether this build has zstd. */
bool fleet_batch_can_compress(void);
TALLY_MUST_CHECK enum tally_status fleet_batch_compress(
	struct tally_bytes raw, struct text *out, struct tally_error *err);
/* Returns the size that the frame states for its decompressed bytes, or max_bytes if that is larger or missing. */
size_t fleet_batch_unpacked_bytes(struct tally_bytes packed, size_t max_bytes);
TALLY_MUST_CHECK enum tally_status fleet_batch_decompress(
	struct tally_bytes packed, size_t max_bytes, struct text *out, struct tally_error *err);

#endif

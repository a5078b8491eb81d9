/* SPDX-License-Identifier: Apache-2.0 */
/*
 * compression.h - decompresses the zstd stream inside COMPRESSED records into whole records.
 *
 * All COMPRESSED records of a recording form one stream; a record in it may be split between two of them. Unpacked
 * bytes are stored in a spool (base/spool.h) until they are forgotten or the decompressor is destroyed. Bad input: the
 * stream ends at bytes that cannot be decompressed, or when the result exceeds LIMIT_UNPACKED_BYTES, or
 * LIMIT_UNPACKED_RATIO after LIMIT_UNPACKED_FREE bytes.
 */
#ifndef PERFDATA_COMPRESSION_H
#define PERFDATA_COMPRESSION_H

#include <tally/status.h>

#include "base/bytes.h"

struct decompressor;
/* UNSUPPORTED: this build has no zstd. */
TALLY_MUST_CHECK enum tally_status decompressor_create(struct decompressor **d, struct tally_error *err);
void decompressor_destroy(struct decompressor *d);
/* Unpacks the next part of the stream. *records becomes the whole records in it; an incomplete one at the end is stored
 * for the next call. CORRUPT or LIMIT: the stream ends here. */
TALLY_MUST_CHECK enum tally_status decompressor_records(struct decompressor *d, struct tally_bytes packed, bool swap,
	struct tally_bytes *records, struct tally_error *err);
/* Starts a new stream; bytes that were returned remain valid. */
void decompressor_restart(struct decompressor *d);
/* Returns the number of stored bytes of an incomplete record. */
size_t decompressor_rest(const struct decompressor *d);
/* Returns the total number of bytes of the records that were returned so far. */
size_t decompressor_position(const struct decompressor *d);
/* Announces, before the first record, that bytes will be forgotten, so that the spool needs no file. */
void decompressor_pass(struct decompressor *d);
/* Frees the bytes before a position that decompressor_position returned. */
void decompressor_forget(struct decompressor *d, size_t position);

#endif

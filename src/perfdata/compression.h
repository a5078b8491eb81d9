/* SPDX-License-Identifier: Apache-2.0 */
/*
 * compression.h - decompresses the zstd stream inside COMPRESSED records into whole records.
 *
 * All such records of a recording form one stream; a record may be split between two of them. Unpacked bytes are stored
 * in a spool until the decompressor is destroyed or they are forgotten. Bad input: the stream ends at bytes that cannot
 * be decompressed, or when the result exceeds LIMIT_UNPACKED_BYTES, or LIMIT_UNPACKED_RATIO after LIMIT_UNPACKED_FREE
 * bytes.
 */
#ifndef PERFDATA_COMPRESSION_H
#define PERFDATA_COMPRESSION_H

#include <tally/status.h>

#include "base/bytes.h"

struct decompressor;
TALLY_MUST_CHECK enum tally_status decompressor_create(struct decompressor **d, struct tally_error *err);
void decompressor_destroy(struct decompressor *d);
/* Unpacks the next part of the stream. *records are whole; an incomplete one at the end is stored for the next call. */
TALLY_MUST_CHECK enum tally_status decompressor_records(struct decompressor *d, struct tally_bytes packed, bool swap,
	struct tally_bytes *records, struct tally_error *err);
/* Starts a new stream; bytes that were returned remain valid. */
void decompressor_restart(struct decompressor *d);
/* Returns the number of stored bytes of an incomplete record. */
size_t decompressor_rest(const struct decompressor *d);
/* Return the number of bytes that were returned so far; announce before the first record that bytes will be forgotten,
 * so that no file is necessary; and forget the bytes before a position. */
size_t decompressor_position(const struct decompressor *d);
void decompressor_pass(struct decompressor *d);
void decompressor_forget(struct decompressor *d, size_t position);

#endif

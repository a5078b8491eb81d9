/* SPDX-License-Identifier: Apache-2.0 */
/*
 * compression.h - decompresses the zstd stream inside COMPRESSED records into whole records.
 *
 * One stream runs through all such records of a recording; a record may be split between two of them. Unpacked bytes
 * live (in a spool) until the decompressor is destroyed or they are forgotten. Bad input: the stream ends at bytes that
 * cannot be decompressed, and when the result exceeds LIMIT_UNPACKED_BYTES, or LIMIT_UNPACKED_RATIO after
 * LIMIT_UNPACKED_FREE bytes.
 */
#ifndef PERFDATA_COMPRESSION_H
#define PERFDATA_COMPRESSION_H

#include <tally/status.h>

#include "base/bytes.h"

struct decompressor;
TALLY_MUST_CHECK enum tally_status decompressor_create(struct decompressor **d, struct tally_error *err);
void decompressor_destroy(struct decompressor *d);
/* records: those that are complete now; a part of one at the end is kept for the next call. */
TALLY_MUST_CHECK enum tally_status decompressor_records(struct decompressor *d, struct tally_bytes packed, bool swap,
	struct tally_bytes *records, struct tally_error *err);
/* Begins a new stream; bytes that were returned stay valid. */
void decompressor_restart(struct decompressor *d);
/* The number of bytes of an incomplete record. */
size_t decompressor_rest(const struct decompressor *d);
/* The number of bytes that were returned. Bytes before such a position may be forgotten. If that is announced in
 * advance, no file is used. */
size_t decompressor_position(const struct decompressor *d);
void decompressor_pass(struct decompressor *d);
void decompressor_forget(struct decompressor *d, size_t position);

#endif

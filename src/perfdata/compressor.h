/* SPDX-License-Identifier: Apache-2.0 */
/*
 * compressor.h - packs whole records into COMPRESSED records, which form one zstd stream per recording.
 *
 * The stream is flushed at the end of each COMPRESSED record, which unpacks to whole records of at most
 * COMPRESSOR_UNPACKED_MAX bytes. Readers use this size for a buffer (mmap_len in FEATURE_COMPRESSED), and a recording
 * may end after any of them. Only a record of more than 48 KiB that does not shrink is split between two. The caller
 * owns the compressor; one thread. Creating one in a build without zstd fails with TALLY_UNSUPPORTED.
 *
 *	compressor_create(1, &c, err);
 *	compressor_pack(c, slices, slice_count, &out, err);
 *	compressor_destroy(c);
 */
#ifndef PERFDATA_COMPRESSOR_H
#define PERFDATA_COMPRESSOR_H

#include <tally/status.h>

#include "base/bytes.h"
#include "base/writer.h"

#define COMPRESSOR_UNPACKED_MAX (128u << 10)
#define COMPRESSOR_LEVEL_MAX	22
#define COMPRESSOR_TYPE_ZSTD	1 /* Type in FEATURE_COMPRESSED. */

struct compressor;
struct compressor_totals {
	uint64_t bytes, packed_bytes; /* Sizes before and after compression. */
};

/* Creates a compressor with a level of zstd, at most COMPRESSOR_LEVEL_MAX. */
TALLY_MUST_CHECK enum tally_status compressor_create(int level, struct compressor **c, struct tally_error *err);
void compressor_destroy(struct compressor *c);
/* Appends COMPRESSED records to out. slices together are whole records. After a failure the stream is incomplete, and
 * the compressor must not be used any more. */
TALLY_MUST_CHECK enum tally_status compressor_pack(struct compressor *c, const struct tally_bytes *slices,
	size_t slice_count, struct writer *out, struct tally_error *err);
struct compressor_totals compressor_totals(const struct compressor *c);

#endif

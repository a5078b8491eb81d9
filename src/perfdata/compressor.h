/* SPDX-License-Identifier: Apache-2.0 */
/*
 * compressor.h - packs whole records into COMPRESSED records: one zstd stream through a recording.
 *
 * Each COMPRESSED record ends a flush of the stream and unpacks to whole records, at most COMPRESSOR_UNPACKED_MAX
 * bytes: readers use that size for a buffer (FEATURE_COMPRESSED's mmap_len), and a recording that ends after any of
 * them is complete. Only a record of over 48 KiB that does not shrink needs two. The caller owns it; one thread. A
 * build without zstd cannot create one (TALLY_UNSUPPORTED).
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
#define COMPRESSOR_TYPE_ZSTD	1 /* as FEATURE_COMPRESSED numbers it */

struct compressor;
struct compressor_totals {
	uint64_t bytes, packed_bytes; /* before and after */
};

TALLY_MUST_CHECK enum tally_status compressor_create(int level, struct compressor **c, struct tally_error *err);
void compressor_destroy(struct compressor *c);
/* Appends COMPRESSED records to out. After a failure the stream is broken and takes no more. */
TALLY_MUST_CHECK enum tally_status compressor_pack(struct compressor *c, const struct tally_bytes *slices,
	size_t slice_count, struct writer *out, struct tally_error *err);
struct compressor_totals compressor_totals(const struct compressor *c);

#endif

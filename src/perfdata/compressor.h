/*
 * compressor.h - packs whole records into COMPRESSED records: one zstd stream through a recording.
 *
 * Each compressor_pack flushes the stream: what it put out unpacks to all that it was given, without what comes later.
 * No COMPRESSED record unpacks to more than COMPRESSOR_UNPACKED_MAX bytes, with a record that began in the one before
 * it: readers size a buffer by that (FEATURE_COMPRESSED's mmap_len). The caller owns it; one thread. A build without
 * zstd cannot create one (TALLY_UNSUPPORTED).
 *
 *	compressor_create(1, &c, err);
 *	compressor_pack(c, slices, slice_count, &out, err);
 *	compressor_destroy(c);
 */
#ifndef PERFDATA_COMPRESSOR_H
#define PERFDATA_COMPRESSOR_H

#include "base/bytes.h"
#include "base/writer.h"
#include <tally/status.h>

#define COMPRESSOR_UNPACKED_MAX (256u << 10)
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

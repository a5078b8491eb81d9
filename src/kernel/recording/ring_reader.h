/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ring_reader.h - reads the records of one ring one by one, each in contiguous memory.
 *
 * A reader borrows its ring. A record is valid until the next call, which releases its bytes to the kernel. A backward
 * ring returns the newest record first; the caller prevents the kernel from writing meanwhile. One thread.
 *
 *	struct record record;
 *	while (ring_reader_next(&reader, &record)) ...
 */
#ifndef KERNEL_RECORDING_RING_READER_H
#define KERNEL_RECORDING_RING_READER_H

#include "abi/record.h"
#include "kernel/recording/ring.h"

#define RING_RECORD_BYTES_MAX 65536 /* The size of a record has 16 bits. */

struct ring_reader {
	struct ring *ring;
	struct tally_bytes slices[2]; /* Result of the last ring_peek, from which records are returned. */
	size_t slice_count;
	size_t position; /* Offset of the next record in the concatenated slices. */
	size_t given; /* Size of the record that was returned last; 0 if none. */
	bool has_pass; /* The slices are valid; otherwise, the next call peeks again. */
	/* A copy of a record that wraps around the end of the ring. */
	uint64_t wrapped[RING_RECORD_BYTES_MAX / sizeof(uint64_t)];
};

/* Returns the next record, or false if the ring is empty at the moment. For a backward ring, false means that all
 * records were returned; the next call begins with the newest of the records that were written since. */
bool ring_reader_next(struct ring_reader *reader, struct record *record);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ring_reader.h - reads the records of one ring, one after the other, each in one piece.
 *
 * A reader is a value that borrows its ring. A record stays valid until the next call: then its bytes go back to the
 * kernel. A backward ring gives the newest record first; the caller keeps the kernel from writing meanwhile. One thread.
 *
 *	struct record record;
 *	while (ring_reader_next(&reader, &record)) ...
 */
#ifndef KERNEL_RECORDING_RING_READER_H
#define KERNEL_RECORDING_RING_READER_H

#include "abi/record.h"
#include "kernel/recording/ring.h"

#define RING_RECORD_BYTES_MAX 65536 /* a record's size has 16 bits */

struct ring_reader {
	struct ring *ring;
	struct tally_bytes slices[2]; /* of the current pass */
	size_t slice_count;
	size_t position; /* in the two slices together */
	size_t given; /* bytes of the record that was returned last */
	bool has_pass;
	uint64_t wrapped[RING_RECORD_BYTES_MAX /
			 sizeof(uint64_t)]; /* a copy of a record that lies across the ring's end */
};

/* False: the ring is empty for now (backward: the pass is complete). */
bool ring_reader_next(struct ring_reader *reader, struct record *record);

#endif

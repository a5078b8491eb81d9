/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ring.h - reads a mapped ring buffer of perf events as at most two slices of whole records, without decoding them.
 *
 * A ring_set owns its rings; ring_attach makes a ring of any memory, for tests. The kernel stores data_head with
 * release semantics and does not pass data_tail: the head is loaded with acquire, and the tail is stored with release
 * after the bytes were used. A ring that is_backward overwrites its oldest records: it is mapped read-only, the kernel
 * writes from its end to its start, and its output is paused while it is read. One reader.
 * Source: perf_event_open(2), "MMAP layout".
 *
 *	struct tally_bytes slices[2];
 *	size_t n = ring_peek(&ring, slices);
 *	... use slices[0..n) ...; ring_consume(&ring);
 */
#ifndef KERNEL_RECORDING_RING_H
#define KERNEL_RECORDING_RING_H

#include "base/bytes.h"

struct ring {
	uint8_t *control; /* The page with head and tail; the data follows it. */
	uint8_t *data;
	size_t data_bytes; /* A power of two. */
	size_t map_bytes;
	bool is_backward;
	uint64_t tail; /* Position up to which data was consumed; for a backward ring, the head at that time. */
	uint64_t peeked_head; /* The head that ring_peek read last. */
};

/* Makes a ring of the memory at control, which has page_bytes + data_bytes. */
struct ring ring_attach(void *control, size_t page_bytes, size_t data_bytes);
/* Returns the number of slices with the current contents, 0 to 2, in ring order (backward: the newest record first). */
size_t ring_peek(struct ring *ring, struct tally_bytes slices[2]);
/* Releases the peeked bytes, which the kernel may then overwrite. */
void ring_consume(struct ring *ring);
/* Releases this many of the oldest bytes, which must be whole records; not for backward rings. */
void ring_release(struct ring *ring, uint64_t bytes);
/* The clock parameters of the control page (time_shift, time_mult ...), for PERF_RECORD_TIME_CONV. */
struct ring_clock {
	uint16_t shift;
	uint32_t mult;
	uint64_t zero, cycles, mask;
	bool has_zero, has_short; /* cap_user_time_zero and cap_user_time_short. */
};
/* Returns false if the kernel publishes no clock parameters. */
bool ring_clock_read(const struct ring *ring, struct ring_clock *clock);

#endif

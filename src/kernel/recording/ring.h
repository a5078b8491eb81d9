/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ring.h - reads one mapped ring buffer of perf events without decoding: at most two slices of whole records.
 *
 * A ring is a value that its ring_set owns; ring_attach makes one from memory, so that a test brings its own. The
 * kernel moves data_head with a release store and may not pass data_tail: head is loaded with acquire, tail is stored
 * with release after the bytes were used. A ring that is_backward overwrites its oldest records: it is mapped for
 * reading only, the kernel writes from its end to its start, and its output is paused while it is read. One reader.
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
	uint8_t *control; /* the page with head and tail; data follows after page_bytes */
	uint8_t *data;
	size_t data_bytes; /* a power of two */
	size_t map_bytes;
	bool is_backward;
	uint64_t tail; /* ours: what was consumed; backward, the head of that time */
	uint64_t peeked_head;
};

/* control points to page_bytes + data_bytes. */
struct ring ring_attach(void *control, size_t page_bytes, size_t data_bytes);
/* The current contents in ring order (backward: the newest first); 0, 1 or 2 slices. */
size_t ring_peek(struct ring *ring, struct tally_bytes slices[2]);
/* Gives the peeked bytes back to the kernel. */
void ring_consume(struct ring *ring);
/* Gives back so many of the oldest bytes, which are whole records; the rest comes with the next peek. Not backward. */
void ring_release(struct ring *ring, uint64_t bytes);
/* The control page's clock parameters, for TIME_CONV; false if the kernel publishes none. */
struct ring_clock {
	uint16_t shift;
	uint32_t mult;
	uint64_t zero, cycles, mask;
	bool has_zero, has_short;
};
bool ring_clock_read(const struct ring *ring, struct ring_clock *clock);

#endif

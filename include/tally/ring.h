/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ring.h - reads the ring buffer of one event: raw records or one by one, overwriting rings, the AUX area and the
 * clock.
 *
 * A ring belongs to the caller (tally_ring_close before close(2) of the descriptor) and is used by one thread at a
 * time. A record is valid until the next call with its ring: then its bytes are given back to the kernel (the tail
 * moves). Several events may write into one ring: tally_fd_set_output.
 *
 *	struct tally_ring *ring = tally_ring_open(fd, NULL, &err);
 *	struct tally_record record;
 *	while (tally_ring_next(ring, &record) == TALLY_OK)
 *		if (record.type == PERF_RECORD_SAMPLE)
 *			tally_sample_decode(&attr, &record, &sample, &err); // tally/sampler.h
 *
 * Source: perf_event_open(2), "MMAP layout".
 */
#ifndef TALLY_RING_H
#define TALLY_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <tally/status.h>

#ifdef __cplusplus
extern "C" {
#endif

struct tally_ring;

struct tally_ring_options { /* all zero: what NULL means */
	size_t data_bytes; /* 0: 128 KiB; rounded up to a power of two of pages */
	bool is_overwriting; /* keeps the newest: for an attr with write_backward */
	size_t aux_bytes; /* 0: no AUX area; rounded up to a power of two of pages */
	bool aux_is_overwriting; /* the AUX area keeps the newest */
	uint64_t reserved[4]; /* 0 */
};

struct tally_record {
	uint32_t type; /* PERF_RECORD_... */
	uint16_t misc;
	uint16_t size; /* of the bytes, the header of 8 among them */
	const void *bytes; /* in one piece, aligned to 8 */
};

struct tally_slice {
	const void *bytes;
	size_t len;
};

/* Maps the ring of an event; options may be NULL. TALLY_LIMIT: more memory than may be locked (perf_event_mlock_kb);
 * TALLY_UNSUPPORTED: the event has no AUX area; TALLY_INVALID: the options make no sense for the event.
 * Threads: any. */
TALLY_API struct tally_ring *tally_ring_open(int fd, const struct tally_ring_options *options, struct tally_error *err);
/* Unmaps; NULL is fine.
 * Threads: one at a time for a ring, the last. */
TALLY_API void tally_ring_close(struct tally_ring *ring);

/* The next record, the oldest first. TALLY_END: there is none for now. Of an overwriting ring, the newest first: its
 * output is paused from the first record to TALLY_END, and what a pass gave does not come again.
 * Threads: one at a time for a ring. */
TALLY_API enum tally_status tally_ring_next(struct tally_ring *ring, struct tally_record *record);
/* What is in the AUX area and was not given back: at most two slices, the oldest first. Returns how many. Of an
 * overwriting area all of it, written or not: let the event be disabled meanwhile.
 * Threads: one at a time for a ring. */
TALLY_API size_t tally_ring_aux(struct tally_ring *ring, struct tally_slice slices[2]);
/* Gives what the last tally_ring_aux said back to the kernel.
 * Threads: one at a time for a ring. */
TALLY_API void tally_ring_aux_release(struct tally_ring *ring);

/* The time of samples (PERF_SAMPLE_TIME, without use_clockid) at a value of the CPU's clock (TSC, CNTVCT), and back.
 * False: the kernel does not publish how they relate (cap_user_time_zero).
 * Threads: any. */
TALLY_API bool tally_ring_time_of_cycles(const struct tally_ring *ring, uint64_t cycles, uint64_t *time_ns);
/* The value of the CPU's clock at a time of samples.
 * Threads: any. */
TALLY_API bool tally_ring_cycles_of_time(const struct tally_ring *ring, uint64_t time_ns, uint64_t *cycles);

#ifdef __cplusplus
}
#endif

#endif

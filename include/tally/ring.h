/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ring.h - reads the ring buffer of an event, record by record, its AUX area and its clock.
 *
 * A ring belongs to the caller, who calls tally_ring_close before close(2) of the descriptor. One thread at a time may
 * use it. A record is valid until the next call with its ring, which returns its bytes to the kernel by moving the
 * tail. Several events may write into one ring (tally_fd_set_output).
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

struct tally_ring_options { /* If all fields are 0, or the options are NULL, the defaults apply. */
	size_t data_bytes; /* Size of the data area, rounded up to a power of two of pages; 0 is 128 KiB. */
	bool is_overwriting; /* Overwrites the oldest records; requires an attr with write_backward. */
	/* Size of the AUX area, rounded up to a power of two of pages; 0 for none. Must be 0 with is_overwriting. */
	size_t aux_bytes;
	bool aux_is_overwriting; /* The AUX area overwrites its oldest data. */
	uint64_t reserved[4]; /* Must be 0. */
};

struct tally_record {
	uint32_t type; /* One of PERF_RECORD_... */
	uint16_t misc; /* PERF_RECORD_MISC_... bits. */
	uint16_t size; /* Number of bytes, including the header of 8 bytes. */
	const void *bytes; /* The contiguous record with its header, aligned to 8 bytes. */
};

struct tally_slice { /* A piece of memory that another structure owns. */
	const void *bytes;
	size_t len;
};

/* Maps the ring of an event; options may be NULL. Returns NULL on failure, with TALLY_LIMIT if more memory would be
 * locked than is allowed (perf_event_mlock_kb), TALLY_UNSUPPORTED if the event has no AUX area, and TALLY_INVALID if
 * the options do not fit the event.
 * Threads: any. */
TALLY_API struct tally_ring *tally_ring_open(int fd, const struct tally_ring_options *options, struct tally_error *err);
/* Unmaps the ring; NULL is allowed.
 * Threads: one at a time for a ring, and no other call may follow. */
TALLY_API void tally_ring_close(struct tally_ring *ring);

/* Reads the next record, the oldest first; TALLY_END if there is none at the moment. An overwriting ring returns the
 * newest record first. Its output is paused from the first record until TALLY_END, and each record is returned once.
 * Threads: one at a time for a ring. */
TALLY_API enum tally_status tally_ring_next(struct tally_ring *ring, struct tally_record *record);
/* Finds the unread data of the AUX area and returns the number of slices: at most two, the oldest first; 0 if there is
 * no AUX area. For an overwriting area, the slices cover the whole area, even parts that were never written, and the
 * event should be disabled during the call.
 * Threads: one at a time for a ring. */
TALLY_API size_t tally_ring_aux(struct tally_ring *ring, struct tally_slice slices[2]);
/* Returns the data of the last tally_ring_aux to the kernel, which may then overwrite it.
 * Threads: one at a time for a ring. */
TALLY_API void tally_ring_aux_release(struct tally_ring *ring);

/* Converts a value of the CPU's clock (TSC, CNTVCT) to the time of samples (PERF_SAMPLE_TIME without use_clockid).
 * Returns false if the kernel does not publish the conversion (cap_user_time_zero).
 * Threads: any. */
TALLY_API bool tally_ring_time_of_cycles(const struct tally_ring *ring, uint64_t cycles, uint64_t *time_ns);
/* Converts a time of samples to a value of the CPU's clock; the inverse of tally_ring_time_of_cycles. Returns false if
 * the kernel does not publish the conversion.
 * Threads: any. */
TALLY_API bool tally_ring_cycles_of_time(const struct tally_ring *ring, uint64_t time_ns, uint64_t *cycles);

#ifdef __cplusplus
}
#endif

#endif

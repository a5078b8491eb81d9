/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tally_ring.c - implements tally/ring.h by one slot of a ring_set and a ring_reader.
 */
#include "kernel/recording/tally_ring.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/array.h"
#include "base/error.h"
#include "kernel/recording/ring_reader.h"
#include "kernel/recording/ring_set.h"

#define RING_BYTES_DEFAULT (128u << 10)

struct tally_ring {
	const struct kernel_seam *kernel;
	int fd;
	struct ring_set rings; /* A set of one slot. */
	struct ring_reader reader;
	bool is_paused;
	uint8_t *aux; /* NULL without an AUX area. */
	size_t aux_bytes;
	uint64_t aux_tail, aux_peeked;
	bool aux_is_overwriting;
};

size_t tally_ring_size(size_t bytes)
{
	size_t wanted = bytes ? bytes : RING_BYTES_DEFAULT;
	size_t size = (size_t)sysconf(_SC_PAGESIZE);
	while (size < wanted && size <= SIZE_MAX / 2)
		size *= 2;
	return size;
}

static struct perf_event_mmap_page *tally_ring_control_page(const struct tally_ring *r)
{
	return (struct perf_event_mmap_page *)(void *)r->rings.slots[0].ring.control;
}

static enum tally_status tally_ring_options_check(const struct tally_ring_options *o, struct tally_error *err)
{
	for (size_t i = 0; i < ARRAY_LEN(o->reserved); i++)
		if (o->reserved[i])
			return error_set(err, TALLY_INVALID, "reserved fields of the options are not 0");
	if (o->aux_bytes && o->is_overwriting)
		return error_set(err, TALLY_INVALID, "an overwriting ring is mapped for reading only: no AUX area");
	if (o->data_bytes > SIZE_MAX / 4 || o->aux_bytes > SIZE_MAX / 4)
		return error_set(err, TALLY_INVALID, "the size of the ring is too large");
	return TALLY_OK;
}

static enum tally_status aux_map(struct tally_ring *r, const struct tally_ring_options *o, struct tally_error *err)
{
	struct perf_event_mmap_page *page = tally_ring_control_page(r);
	size_t bytes = tally_ring_size(o->aux_bytes);
	uint64_t offset = r->rings.slots[0].ring.map_bytes;
	/* A read-only mapping tells the kernel to overwrite old data. */
	int protection = o->aux_is_overwriting ? PROT_READ : PROT_READ | PROT_WRITE;
	page->aux_offset = offset;
	page->aux_size = bytes;
	void *aux = r->kernel->mmap(r->kernel->context, bytes, protection, r->fd, (off_t)offset);
	if (aux == MAP_FAILED) {
		bool is_limit = errno == EPERM || errno == EAGAIN || errno == ENOMEM;
		return error_set_errno(err, is_limit ? TALLY_LIMIT : TALLY_UNSUPPORTED, errno,
			"an AUX area of %zu KiB cannot be mapped", bytes / 1024);
	}
	r->aux = aux;
	r->aux_bytes = bytes;
	r->aux_is_overwriting = o->aux_is_overwriting;
	return TALLY_OK;
}

struct tally_ring *tally_ring_open_on(
	const struct kernel_seam *kernel, int fd, const struct tally_ring_options *options, struct tally_error *err)
{
	static const struct tally_ring_options usual;
	const struct tally_ring_options *o = options ? options : &usual;
	if (tally_ring_options_check(o, err) != TALLY_OK)
		return NULL;
	struct tally_ring *r = calloc(1, sizeof(*r));
	if (!r) {
		error_nomem(err);
		return NULL;
	}
	r->kernel = kernel;
	r->fd = fd;
	enum tally_status status = ring_set_init(&r->rings, kernel, 1, tally_ring_size(o->data_bytes), err);
	r->rings.is_backward = o->is_overwriting;
	if (status == TALLY_OK)
		status = ring_set_add(&r->rings, 0, fd, err);
	if (status == TALLY_OK && o->aux_bytes)
		status = aux_map(r, o, err);
	if (status == TALLY_OK) {
		r->reader.ring = &r->rings.slots[0].ring;
		return r;
	}
	tally_ring_close(r);
	return NULL;
}

struct tally_ring *tally_ring_open(int fd, const struct tally_ring_options *options, struct tally_error *err)
{
	return tally_ring_open_on(kernel_seam_linux(), fd, options, err);
}

void tally_ring_close(struct tally_ring *r)
{
	if (!r)
		return;
	if (r->aux)
		r->kernel->munmap(r->kernel->context, r->aux, r->aux_bytes);
	ring_set_deinit(&r->rings);
	free(r);
}

static void pause_output(struct tally_ring *r, bool is_paused)
{
	if (!r->reader.ring->is_backward || r->is_paused == is_paused)
		return;
	/* A kernel that cannot pause leaves a small chance of a torn record, which the reader drops. */
	(void)r->kernel->ioctl(r->kernel->context, r->fd, PERF_EVENT_IOC_PAUSE_OUTPUT, (void *)(uintptr_t)is_paused);
	r->is_paused = is_paused;
}

enum tally_status tally_ring_next(struct tally_ring *r, struct tally_record *record)
{
	struct record found;
	pause_output(r, true);
	if (!ring_reader_next(&r->reader, &found)) {
		pause_output(r, false);
		return TALLY_END;
	}
	record->type = found.type;
	record->misc = found.misc;
	record->size = (uint16_t)found.bytes.len;
	record->bytes = found.bytes.data;
	return TALLY_OK;
}

static size_t slice_add(struct tally_slice slices[2], size_t count, const uint8_t *bytes, size_t len)
{
	if (!len)
		return count;
	slices[count] = (struct tally_slice){bytes, len};
	return count + 1;
}

size_t tally_ring_aux(struct tally_ring *r, struct tally_slice slices[2])
{
	if (!r->aux)
		return 0;
	uint64_t head = __atomic_load_n(&tally_ring_control_page(r)->aux_head, __ATOMIC_ACQUIRE);
	uint64_t used = r->aux_is_overwriting ? r->aux_bytes : head - r->aux_tail;
	if (used > r->aux_bytes)
		used = r->aux_bytes; /* The kernel never passes the tail, so the head is damaged. */
	size_t start = (size_t)((head - used) & (r->aux_bytes - 1)), len = (size_t)used;
	size_t before_end = MIN(r->aux_bytes - start, len);
	r->aux_peeked = head;
	size_t count = slice_add(slices, 0, r->aux + start, before_end);
	return slice_add(slices, count, r->aux, len - before_end);
}

void tally_ring_aux_release(struct tally_ring *r)
{
	if (!r->aux || r->aux_is_overwriting)
		return;
	r->aux_tail = r->aux_peeked;
	__atomic_store_n(&tally_ring_control_page(r)->aux_tail, r->aux_tail, __ATOMIC_RELEASE);
}

bool tally_ring_time_of_cycles(const struct tally_ring *r, uint64_t cycles, uint64_t *time_ns)
{
	struct ring_clock clock;
	if (!ring_clock_read(&r->rings.slots[0].ring, &clock) || !clock.has_zero || clock.shift > 63)
		return false;
	if (clock.has_short)
		cycles = clock.cycles + ((cycles - clock.cycles) & clock.mask);
	uint64_t quotient = cycles >> clock.shift, rest = cycles & ((UINT64_C(1) << clock.shift) - 1);
	*time_ns = clock.zero + quotient * clock.mult + ((rest * clock.mult) >> clock.shift);
	return true;
}

bool tally_ring_cycles_of_time(const struct tally_ring *r, uint64_t time_ns, uint64_t *cycles)
{
	struct ring_clock clock;
	if (!ring_clock_read(&r->rings.slots[0].ring, &clock) || !clock.has_zero || clock.shift > 63 || !clock.mult)
		return false;
	uint64_t time = time_ns - clock.zero, quotient = time / clock.mult, rest = time % clock.mult;
	*cycles = (quotient << clock.shift) + ((rest << clock.shift) / clock.mult);
	return true;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/recording/ring.h"

#include <linux/perf_event.h>
#include <string.h>

static struct perf_event_mmap_page *ring_control_page(const struct ring *ring)
{
	return (struct perf_event_mmap_page *)(void *)ring->control;
}

struct ring ring_attach(void *control, size_t page_bytes, size_t data_bytes)
{
	struct ring ring = {.control = control, .data_bytes = data_bytes, .map_bytes = page_bytes + data_bytes};
	ring.data = ring.control + page_bytes;
	ring.tail = ring_control_page(&ring)->data_tail;
	ring.peeked_head = ring.tail;
	return ring;
}

/* Number of bytes of complete records from start on; the oldest record was partly overwritten. */
static uint64_t ring_whole_records(const struct ring *ring, uint64_t start)
{
	uint64_t at = 0;
	while (at + sizeof(struct perf_event_header) <= ring->data_bytes) {
		struct perf_event_header header; /* Records are aligned, so a header never wraps. */
		memcpy(&header, ring->data + ((start + at) & (ring->data_bytes - 1)), sizeof(header));
		if (header.size < sizeof(header) || header.size % 8 != 0 || header.size > ring->data_bytes - at)
			break;
		at += header.size;
	}
	return at;
}

size_t ring_peek(struct ring *ring, struct tally_bytes slices[2])
{
	uint64_t head = __atomic_load_n(&ring_control_page(ring)->data_head, __ATOMIC_ACQUIRE);
	uint64_t start = ring->is_backward ? head : ring->tail;
	uint64_t size = ring->is_backward ? ring->tail - head : head - ring->tail;
	ring->peeked_head = head;
	if (size == 0)
		return 0;
	if (size > ring->data_bytes && ring->is_backward) {
		size = ring_whole_records(ring, start);
		/* The kernel never lets the head pass the tail, so the control page is damaged. */
	} else if (size > ring->data_bytes) {
		start = ring->tail = head - ring->data_bytes;
		size = ring->data_bytes;
	}
	size_t from = (size_t)(start & (ring->data_bytes - 1));
	size_t first = ring->data_bytes - from;
	if (first >= size) {
		slices[0] = (struct tally_bytes){ring->data + from, (size_t)size};
		return 1;
	}
	slices[0] = (struct tally_bytes){ring->data + from, first};
	slices[1] = (struct tally_bytes){ring->data, (size_t)size - first};
	return 2;
}

void ring_consume(struct ring *ring)
{
	ring->tail = ring->peeked_head;
	if (ring->is_backward)
		return;
	__atomic_store_n(&ring_control_page(ring)->data_tail, ring->tail, __ATOMIC_RELEASE);
}

void ring_release(struct ring *ring, uint64_t bytes)
{
	ring->tail += bytes;
	__atomic_store_n(&ring_control_page(ring)->data_tail, ring->tail, __ATOMIC_RELEASE);
}

bool ring_clock_read(const struct ring *ring, struct ring_clock *clock)
{
	const struct perf_event_mmap_page *page = ring_control_page(ring);
	struct ring_clock c;
	uint32_t lock;
	if (!page->cap_user_time)
		return false;
	do {
		lock = __atomic_load_n(&page->lock, __ATOMIC_ACQUIRE);
		c = (struct ring_clock){page->time_shift, page->time_mult, page->time_zero, page->time_cycles,
			page->time_mask, page->cap_user_time_zero, page->cap_user_time_short};
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
	} while (lock != __atomic_load_n(&page->lock, __ATOMIC_RELAXED));
	*clock = c;
	return true;
}

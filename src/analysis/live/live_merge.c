/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/live/live_merge.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"

#define LIVE_MERGE_RECORD_BYTES_MAX 65536

enum tally_status live_merge_init(struct live_merge *merge, size_t ring_count,
	uint64_t (*time_of)(void *context, const struct record *record), void *context, struct tally_error *err)
{
	*merge = (struct live_merge){.count = ring_count, .time_of = time_of, .context = context};
	merge->rings = calloc(ring_count + 1, sizeof(*merge->rings));
	merge->heap = calloc(ring_count + 1, sizeof(*merge->heap));
	if (merge->rings && merge->heap)
		return TALLY_OK;
	live_merge_deinit(merge);
	return error_nomem(err);
}

void live_merge_deinit(struct live_merge *merge)
{
	for (size_t i = 0; merge->rings && i < merge->count; i++)
		free(merge->rings[i].joined);
	free(merge->rings);
	free(merge->heap);
	*merge = (struct live_merge){0};
}

void live_merge_start(struct live_merge *merge, bool has_end)
{
	merge->heap_len = 0;
	merge->horizon = has_end ? UINT64_MAX : 0;
}

static void set_slices(struct live_merge_ring *ring, const struct tally_bytes slices[2], size_t slice_count)
{
	ring->slices[0] = slice_count > 0 ? slices[0] : (struct tally_bytes){0};
	ring->slices[1] = slice_count > 1 ? slices[1] : (struct tally_bytes){0};
	ring->len = ring->slices[0].len + ring->slices[1].len;
	ring->position = 0;
	ring->has_record = false;
}

/* Returns 0 if there is no record or its size is impossible. */
static size_t size_at(const struct live_merge_ring *ring, size_t position)
{
	bool is_second = position >= ring->slices[0].len;
	const struct tally_bytes *slice = &ring->slices[is_second];
	size_t at = is_second ? position - ring->slices[0].len : position;
	uint16_t size;
	if (slice->len - at < RECORD_HEADER_BYTES)
		return 0;
	memcpy(&size, slice->data + at + 6, sizeof(size));
	return size >= RECORD_HEADER_BYTES && size <= ring->len - position ? size : 0;
}

static bool copy_split(struct live_merge_ring *ring, size_t position, size_t size)
{
	size_t first = ring->slices[0].len - position;
	if (!ring->joined)
		ring->joined = malloc(LIVE_MERGE_RECORD_BYTES_MAX);
	if (!ring->joined)
		return false;
	memcpy(ring->joined, ring->slices[0].data + position, first);
	memcpy(ring->joined + first, ring->slices[1].data, size - first);
	return true;
}

/* Reads the whole record at position; one that wraps around the end of the ring is copied to one piece. Returns false
 * if out of memory. */
static bool read_record(struct live_merge_ring *ring, size_t position, size_t size)
{
	size_t first_len = ring->slices[0].len;
	struct tally_bytes bytes = {NULL, size};
	if (position < first_len && position + size > first_len) {
		if (!copy_split(ring, position, size))
			return false;
		bytes.data = ring->joined;
	} else {
		bytes.data = position < first_len ? ring->slices[0].data + position
						  : ring->slices[1].data + (position - first_len);
	}
	ring->has_record = record_at(bytes, false, 0, &ring->record, NULL) == TALLY_OK;
	return true;
}

void live_merge_note(struct live_merge *merge, size_t index, const struct tally_bytes slices[2], size_t slice_count)
{
	struct live_merge_ring *ring = &merge->rings[index];
	size_t last = 0, last_size = 0, size;
	set_slices(ring, slices, slice_count);
	for (size_t at = 0; at < ring->len && (size = size_at(ring, at)) > 0; at += size) {
		last = at;
		last_size = size;
	}
	if (last_size == 0 || !read_record(ring, last, last_size))
		return;
	uint64_t time = merge->time_of(merge->context, &ring->record);
	if (time > merge->horizon)
		merge->horizon = time;
}

/* Reads the record at the ring's position, if there is one. Returns false if out of memory. */
static bool look_at_next(struct live_merge *merge, struct live_merge_ring *ring)
{
	ring->has_record = false;
	if (ring->position >= ring->len)
		return true;
	size_t size = size_at(ring, ring->position);
	if (size == 0) { /* Without a valid size the next record cannot be found. */
		merge->damaged++;
		ring->position = ring->len;
		return true;
	}
	if (!read_record(ring, ring->position, size))
		return false;
	uint64_t time = merge->time_of(merge->context, &ring->record);
	if (time)
		ring->time = time;
	return true;
}

static void sink_down(struct live_merge *merge, size_t at)
{
	size_t *heap = merge->heap;
	for (;;) {
		size_t least = at;
		for (size_t child = 2 * at + 1; child <= 2 * at + 2 && child < merge->heap_len; child++)
			if (merge->rings[heap[child]].time < merge->rings[heap[least]].time)
				least = child;
		if (least == at)
			return;
		size_t other = heap[at];
		heap[at] = heap[least];
		heap[least] = other;
		at = least;
	}
}

static void add_to_heap(struct live_merge *merge, size_t index)
{
	size_t *heap = merge->heap;
	size_t at = merge->heap_len++;
	while (at > 0 && merge->rings[heap[(at - 1) / 2]].time > merge->rings[index].time) {
		heap[at] = heap[(at - 1) / 2];
		at = (at - 1) / 2;
	}
	heap[at] = index;
}

bool live_merge_show(struct live_merge *merge, size_t index, const struct tally_bytes slices[2], size_t slice_count)
{
	struct live_merge_ring *ring = &merge->rings[index];
	set_slices(ring, slices, slice_count);
	if (!look_at_next(merge, ring))
		return false;
	if (ring->has_record)
		add_to_heap(merge, index);
	return true;
}

bool live_merge_next(struct live_merge *merge, size_t *index, struct record *record)
{
	if (merge->heap_len == 0)
		return false;
	size_t oldest = merge->heap[0];
	struct live_merge_ring *ring = &merge->rings[oldest];
	if (ring->time > merge->horizon)
		return false;
	*record = ring->record;
	*index = oldest;
	return true;
}

bool live_merge_advance(struct live_merge *merge)
{
	struct live_merge_ring *ring = &merge->rings[merge->heap[0]];
	ring->position += ring->record.bytes.len;
	if (!look_at_next(merge, ring))
		return false;
	if (!ring->has_record)
		merge->heap[0] = merge->heap[--merge->heap_len];
	sink_down(merge, 0);
	return true;
}

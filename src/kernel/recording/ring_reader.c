/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/recording/ring_reader.h"

#include <string.h>

#define RING_READER_SIZE_OFFSET 6 /* Offset of the size in a record's header. */

static size_t pass_bytes(const struct ring_reader *r)
{
	return r->slices[0].len + (r->slice_count > 1 ? r->slices[1].len : 0);
}

/* Returns len bytes at a position of the two slices, copied to `wrapped` if they span both; NULL if they are not all
 * there. */
static const uint8_t *bytes_at(struct ring_reader *r, size_t position, size_t len)
{
	const struct tally_bytes *first = &r->slices[0], *second = &r->slices[1];
	size_t total = pass_bytes(r);
	if (position > total || len > total - position)
		return NULL;
	if (position >= first->len)
		return second->data + (position - first->len);
	size_t before_end = first->len - position;
	if (len <= before_end)
		return first->data + position;
	uint8_t *out = (uint8_t *)r->wrapped;
	memcpy(out, first->data + position, before_end);
	memcpy(out + before_end, second->data, len - before_end);
	return out;
}

bool ring_reader_next(struct ring_reader *r, struct record *record)
{
	if (r->given && !r->ring->is_backward)
		ring_release(r->ring, r->given);
	r->given = 0;
	if (r->has_pass && !r->ring->is_backward && r->position == pass_bytes(r))
		r->has_pass = false; /* More records may have arrived. */
	if (!r->has_pass) {
		r->slice_count = ring_peek(r->ring, r->slices);
		r->position = 0;
		r->has_pass = r->slice_count > 0;
	}
	if (!r->has_pass)
		return false;
	const uint8_t *header = bytes_at(r, r->position, RECORD_HEADER_BYTES), *bytes = NULL;
	uint16_t size = 0;
	if (header)
		memcpy(&size, header + RING_READER_SIZE_OFFSET, sizeof(size));
	/* A record of size 0, which the kernel does not write, would be read forever. */
	if (size >= RECORD_HEADER_BYTES)
		bytes = bytes_at(r, r->position, size);
	if (bytes && record_at((struct tally_bytes){bytes, size}, false, 0, record, NULL) == TALLY_OK) {
		r->position += size;
		r->given = size;
		return true;
	}
	ring_consume(r->ring);
	r->has_pass = false;
	return false;
}

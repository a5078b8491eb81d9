/* SPDX-License-Identifier: Apache-2.0 */
#include "abi/record_slices.h"

#include <string.h>

#include "base/array.h"

bool record_slices_copy(const struct record_slices *from, size_t at, void *to, size_t len)
{
	uint8_t *out = to;
	for (size_t i = 0; i < from->count && len; i++) {
		const struct tally_bytes *slice = &from->items[i];
		if (at >= slice->len) {
			at -= slice->len;
			continue;
		}
		size_t part = MIN(slice->len - at, len);
		memcpy(out, slice->data + at, part);
		out += part;
		len -= part;
		at = 0;
	}
	return len == 0;
}

bool record_slices_header(const struct record_slices *from, size_t at, struct record_slice_header *header)
{
	return record_slices_copy(from, at, header, sizeof(*header)) && header->size >= sizeof(*header);
}

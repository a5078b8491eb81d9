/* SPDX-License-Identifier: Apache-2.0 */
/*
 * leb128.h - reads variable-length integers through a cursor, with seven bits in each byte, the lowest first, as in
 * DWARF, protocol buffers and Go's tables. Bits after the 64th are ignored, as in other readers.
 */
#ifndef BASE_LEB128_H
#define BASE_LEB128_H

#include "base/cursor.h"

static inline uint64_t cursor_uleb(struct cursor *c)
{
	uint64_t value = 0;
	unsigned shift = 0;
	if (!c->failed && c->pos < c->len && c->data[c->pos] < 0x80)
		return c->data[c->pos++];
	for (;;) {
		uint8_t byte = cursor_u8(c);
		if (shift < 64)
			value |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return value;
		shift += 7;
	}
}

static inline int64_t cursor_sleb(struct cursor *c)
{
	uint64_t value = 0;
	unsigned shift = 0;
	for (;;) {
		uint8_t byte = cursor_u8(c);
		if (shift < 64)
			value |= (uint64_t)(byte & 0x7f) << shift;
		shift += 7;
		if (byte & 0x80)
			continue;
		if ((byte & 0x40) && shift < 64)
			value |= ~UINT64_C(0) << shift;
		return (int64_t)value;
	}
}

/* Reads an unsigned integer of 1, 2, 3, 4 or 8 bytes; skips other sizes and returns 0. */
static inline uint64_t cursor_uint(struct cursor *c, unsigned size)
{
	switch (size) {
	case 1:
		return cursor_u8(c);
	case 2:
		return cursor_u16(c);
	case 3: {
		struct tally_bytes b = cursor_bytes(c, 3);
		bool is_little = c->swap != (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__);
		if (b.len < 3)
			return 0;
		return (uint64_t)b.data[is_little ? 0 : 2] | (uint64_t)b.data[1] << 8 |
		       (uint64_t)b.data[is_little ? 2 : 0] << 16;
	}
	case 4:
		return cursor_u32(c);
	case 8:
		return cursor_u64(c);
	default:
		cursor_skip(c, size);
		return 0;
	}
}

#endif

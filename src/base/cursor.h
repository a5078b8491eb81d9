/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cursor.h - reads input bytes with bounds checks; all decoders of input use it. A failure is sticky: after the first
 * short read, every read returns 0 and failed stays set, so a unit can be decoded completely and checked once. The
 * cursor converts the byte order.
 *
 *	struct cursor c = cursor_make(bytes, swap);
 *	uint32_t n = cursor_u32(&c);
 *	if (!cursor_count(&c, n, 8)) return error_set_at(...);  // n items of 8 bytes fit in what is left
 */
#ifndef BASE_CURSOR_H
#define BASE_CURSOR_H

#include "base/bytes.h"

struct cursor {
	const uint8_t *data;
	size_t len;
	size_t pos;
	bool swap; /* True if the byte order differs from the host's. */
	bool failed;
};

static inline struct cursor cursor_make(struct tally_bytes bytes, bool swap)
{
	return (struct cursor){bytes.data, bytes.len, 0, swap, false};
}

static inline size_t cursor_left(const struct cursor *c)
{
	return c->failed ? 0 : c->len - c->pos;
}

/* Returns the next n bytes, or NULL and sets failed. */
static inline const uint8_t *cursor_take(struct cursor *c, size_t n)
{
	if (c->failed || n > c->len - c->pos) {
		c->failed = true;
		return NULL;
	}
	const uint8_t *p = c->data + c->pos;
	c->pos += n;
	return p;
}

static inline uint8_t cursor_u8(struct cursor *c)
{
	const uint8_t *p = cursor_take(c, 1);
	return p ? *p : 0;
}

#define CURSOR_LOAD(bits)                                             \
	static inline uint##bits##_t cursor_u##bits(struct cursor *c) \
	{                                                             \
		uint##bits##_t v;                                     \
		const uint8_t *p = cursor_take(c, sizeof(v));         \
		if (!p)                                               \
			return 0;                                     \
		memcpy(&v, p, sizeof(v));                             \
		return c->swap ? __builtin_bswap##bits(v) : v;        \
	}
CURSOR_LOAD(16)
CURSOR_LOAD(32)
CURSOR_LOAD(64)
#undef CURSOR_LOAD

static inline void cursor_skip(struct cursor *c, size_t n)
{
	(void)cursor_take(c, n);
}

/* Returns true if count items of at least item_size bytes each fit into the remaining bytes; otherwise sets failed. */
static inline bool cursor_count(struct cursor *c, uint64_t count, size_t item_size)
{
	if (c->failed || count > (c->len - c->pos) / item_size) {
		c->failed = true;
		return false;
	}
	return true;
}

static inline struct tally_bytes cursor_bytes(struct cursor *c, size_t n)
{
	const uint8_t *p = cursor_take(c, n);
	return (struct tally_bytes){p, p ? n : 0};
}

/* Returns a cursor over the next n bytes. */
static inline struct cursor cursor_sub(struct cursor *c, size_t n)
{
	struct tally_bytes b = cursor_bytes(c, n);
	return (struct cursor){b.data, b.len, 0, c->swap, c->failed};
}

/*
 * Returns the text up to the first NUL in a field of n bytes, or all of it if there is no NUL. To read a NUL-terminated
 * text that is padded at the end of a record, use cursor_text(c, cursor_left(c)).
 */
struct tally_str cursor_text(struct cursor *c, size_t n);

#endif

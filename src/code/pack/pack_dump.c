/* SPDX-License-Identifier: Apache-2.0 */
#include "code/pack/pack_dump.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/array.h"
#include "base/cursor.h"
#include "base/limits.h"
#include "base/map_u64.h"
#include "base/order.h"

#define HEADER_SIZE_AT 8
#define RECORD_BYTES   16
#define SIZE_BYTES     8 /* The uncompressed size, little-endian, precedes the deflated data. */
#define LOAD_FIXED     40 /* Size of the fields of a load record before its name: process ID to function number. */
#define LOAD_SIZE_AT   24
#define LOAD_INDEX_AT  32
#define MOVE_INDEX_AT  40

enum record_id { CODE_LOAD, CODE_MOVE, CODE_DEBUG_INFO, CODE_CLOSE };

struct reducing {
	const uint64_t *addresses;
	size_t count;
	const struct pack_dump_hiding *hiding;
	struct writer copy;
	bool swap;
	struct map_u64 kept; /* Set of the numbers of functions that are retained. */
	size_t lines, lines_end; /* Range of a record with lines that waits for its function; 0 if there is none. */
	bool failed;
};

static uint64_t pack_dump_word_at(const struct reducing *r, size_t at)
{
	struct cursor c = cursor_make((struct tally_bytes){r->copy.data, r->copy.len}, r->swap);
	cursor_skip(&c, at);
	return cursor_u64(&c);
}

/* Gives a record an unknown type, which readers skip, and zeros its body. */
static void pack_dump_blank(struct reducing *r, size_t start, size_t end)
{
	memset(r->copy.data + start, 0xff, sizeof(uint32_t));
	memset(r->copy.data + start + RECORD_BYTES, 0, end - start - RECORD_BYTES);
}

static bool is_hit(const struct reducing *r, uint64_t start, uint64_t size)
{
	size_t low;
	LOWER_BOUND(low, r->count, middle, r->addresses[middle] < start);
	return low < r->count && r->addresses[low] - start < size;
}

static void pack_dump_hide(struct reducing *r, size_t name, size_t code)
{
	const char *old = (const char *)r->copy.data + name;
	const char *made = r->hiding->name ? r->hiding->name(r->hiding->context, old) : old;
	size_t room = code - name - 1, len = made ? strlen(made) : 0;
	if (made == old)
		return;
	r->failed = r->failed || !made;
	memset(r->copy.data + name, 0, room);
	memcpy(r->copy.data + name, made ? made : "", MIN(len, room));
}

static void reduce_load(struct reducing *r, size_t start, size_t end)
{
	size_t fixed = start + RECORD_BYTES, name = fixed + LOAD_FIXED;
	uint64_t size = name < end ? pack_dump_word_at(r, fixed + LOAD_SIZE_AT) : 0;
	bool stays = size > 0 && size < end - name && is_hit(r, end - (size_t)size, size);
	if (stays && !memchr(r->copy.data + name, 0, end - name - (size_t)size))
		stays = false;
	if (r->lines && (!stays || r->hiding->without_code))
		pack_dump_blank(r, r->lines, r->lines_end);
	r->lines = 0;
	if (!stays) {
		pack_dump_blank(r, start, end);
		return;
	}
	uint64_t *slot = map_u64_at(&r->kept, pack_dump_word_at(r, fixed + LOAD_INDEX_AT), &(bool){false});
	r->failed = r->failed || !slot;
	pack_dump_hide(r, name, end - (size_t)size);
	if (r->hiding->without_code)
		memset(r->copy.data + end - size, 0, (size_t)size);
}

static void reduce_record(struct reducing *r, uint32_t id, size_t start, size_t end)
{
	uint64_t found;
	size_t index = start + RECORD_BYTES + MOVE_INDEX_AT;
	switch (id) {
	case CODE_LOAD:
		reduce_load(r, start, end);
		break;
	case CODE_MOVE:
		if (index + sizeof(uint64_t) > end || !map_u64_find(&r->kept, pack_dump_word_at(r, index), &found))
			pack_dump_blank(r, start, end);
		break;
	case CODE_DEBUG_INFO:
		if (r->lines)
			pack_dump_blank(r, r->lines, r->lines_end);
		r->lines = start;
		r->lines_end = end;
		break;
	case CODE_CLOSE:
		break;
	default: /* Unwinding information is not needed, because call chains are complete; other types are not known. */
		pack_dump_blank(r, start, end);
		break;
	}
}

static void pack_dump_reduce(struct reducing *r)
{
	struct cursor c = cursor_make((struct tally_bytes){r->copy.data, r->copy.len}, r->swap);
	cursor_skip(&c, HEADER_SIZE_AT);
	uint32_t header = cursor_u32(&c);
	cursor_skip(&c, header > c.pos ? header - c.pos : 0);
	while (cursor_left(&c) >= RECORD_BYTES && !r->failed) {
		size_t start = c.pos;
		uint32_t id = cursor_u32(&c), size = cursor_u32(&c);
		if (size < RECORD_BYTES || size > c.len - start)
			break;
		reduce_record(r, id, start, start + size);
		c.pos = start + size;
	}
	if (r->lines)
		pack_dump_blank(r, r->lines, r->lines_end);
	/* Data after the last complete record may be anything, so it is not packed. */
	memset(r->copy.data + c.pos, 0, c.len - c.pos);
}

bool pack_dump_make(const struct jitdump *dump, const uint64_t *addresses, size_t count,
	const struct pack_dump_hiding *hiding, struct writer *out)
{
	struct reducing r = {.addresses = addresses, .count = count, .hiding = hiding, .swap = dump->swap};
	writer_bytes(&r.copy, dump->bytes.data, dump->bytes.len);
	r.failed = r.copy.failed;
	if (!r.failed)
		pack_dump_reduce(&r);
	uLongf room = compressBound((uLong)dump->bytes.len);
	uint8_t *packed = r.failed ? NULL : malloc(room);
	const uint8_t size[SIZE_BYTES] = {(uint8_t)dump->bytes.len, (uint8_t)(dump->bytes.len >> 8),
		(uint8_t)(dump->bytes.len >> 16), (uint8_t)(dump->bytes.len >> 24)};
	bool ok = packed && compress2(packed, &room, r.copy.data, (uLong)r.copy.len, Z_BEST_COMPRESSION) == Z_OK;
	if (ok) {
		writer_bytes(out, size, sizeof(size));
		writer_bytes(out, packed, room);
	}
	free(packed);
	writer_deinit(&r.copy);
	map_u64_deinit(&r.kept);
	return ok && !out->failed && !r.failed;
}

char *pack_dump_open(struct tally_bytes packed, size_t *len)
{
	uint64_t size = 0;
	if (packed.len < SIZE_BYTES)
		return NULL;
	for (unsigned i = 0; i < SIZE_BYTES; i++)
		size |= (uint64_t)packed.data[i] << (8 * i);
	if (size == 0 || size > LIMIT_JITDUMP)
		return NULL;
	char *bytes = malloc((size_t)size + 1);
	uLongf made = (uLongf)size;
	if (!bytes)
		return NULL;
	if (uncompress((uint8_t *)bytes, &made, packed.data + SIZE_BYTES, (uLong)(packed.len - SIZE_BYTES)) != Z_OK ||
		made != size) {
		free(bytes);
		return NULL;
	}
	bytes[size] = 0;
	*len = (size_t)size;
	return bytes;
}

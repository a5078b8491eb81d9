/* SPDX-License-Identifier: Apache-2.0 */
#include "base/writer.h"

#include "base/checked.h"
#include "base/vec.h"

void writer_deinit(struct writer *w)
{
	free(w->data);
	*w = (struct writer){.swap = w->swap};
}

void writer_clear(struct writer *w)
{
	w->len = 0;
	w->failed = false;
}

static uint8_t *writer_room(struct writer *w, size_t len)
{
	size_t need;
	if (w->failed || !checked_add(w->len, len, &need) || (need > w->cap && !vec_grow(&w->data, &w->cap, 1, need))) {
		w->failed = true;
		return NULL;
	}
	uint8_t *at = w->data + w->len;
	w->len = need;
	return at;
}

void writer_bytes(struct writer *w, const void *data, size_t len)
{
	uint8_t *at = len > 0 ? writer_room(w, len) : NULL;
	if (at)
		memcpy(at, data, len);
}

void writer_zeros(struct writer *w, size_t len)
{
	uint8_t *at = len > 0 ? writer_room(w, len) : NULL;
	if (at)
		memset(at, 0, len);
}

void writer_u8(struct writer *w, uint8_t v)
{
	writer_bytes(w, &v, sizeof(v));
}

void writer_u16(struct writer *w, uint16_t v)
{
	v = w->swap ? __builtin_bswap16(v) : v;
	writer_bytes(w, &v, sizeof(v));
}

void writer_u32(struct writer *w, uint32_t v)
{
	v = w->swap ? __builtin_bswap32(v) : v;
	writer_bytes(w, &v, sizeof(v));
}

void writer_u64(struct writer *w, uint64_t v)
{
	v = w->swap ? __builtin_bswap64(v) : v;
	writer_bytes(w, &v, sizeof(v));
}

void writer_align(struct writer *w, size_t alignment)
{
	writer_zeros(w, (alignment - w->len % alignment) % alignment);
}

static void writer_patch(struct writer *w, size_t offset, const void *data, size_t len)
{
	if (w->failed || offset > w->len || len > w->len - offset)
		w->failed = true;
	else
		memcpy(w->data + offset, data, len);
}

void writer_patch_u16(struct writer *w, size_t offset, uint16_t v)
{
	v = w->swap ? __builtin_bswap16(v) : v;
	writer_patch(w, offset, &v, sizeof(v));
}

void writer_patch_u32(struct writer *w, size_t offset, uint32_t v)
{
	v = w->swap ? __builtin_bswap32(v) : v;
	writer_patch(w, offset, &v, sizeof(v));
}

void writer_patch_u64(struct writer *w, size_t offset, uint64_t v)
{
	v = w->swap ? __builtin_bswap64(v) : v;
	writer_patch(w, offset, &v, sizeof(v));
}

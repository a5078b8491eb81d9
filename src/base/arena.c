/* SPDX-License-Identifier: Apache-2.0 */
#include "base/arena.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/checked.h"

#define CHUNK_FIRST_BYTES 4096u
#define CHUNK_MAX_BYTES	  (1u << 20)
#define VEC_FIRST_ITEMS	  8
#define PRINTED_FIRST	  256 /* Most texts are shorter, so they are printed only once. */

struct arena_chunk {
	struct arena_chunk *next;
	size_t size; /* Size of data. */
	size_t used;
	_Alignas(16) unsigned char data[];
};

void arena_init(struct arena *arena)
{
	*arena = (struct arena){0};
}

void arena_deinit(struct arena *arena)
{
	while (arena->chunks) {
		struct arena_chunk *chunk = arena->chunks;
		arena->chunks = chunk->next;
		free(chunk);
	}
	arena->used = 0;
}

static struct arena_chunk *add_chunk(struct arena *arena, size_t need)
{
	size_t size = arena->chunks ? arena->chunks->size * 2 : CHUNK_FIRST_BYTES;
	size = MIN(size, CHUNK_MAX_BYTES);
	size = MAX(size, need);
	size_t total;
	if (!checked_add(size, sizeof(struct arena_chunk), &total))
		return NULL;
	struct arena_chunk *chunk = malloc(total);
	if (!chunk)
		return NULL;
	*chunk = (struct arena_chunk){.next = arena->chunks, .size = size};
	arena->chunks = chunk;
	return chunk;
}

static size_t arena_padding(const struct arena_chunk *chunk, size_t alignment)
{
	uintptr_t at = (uintptr_t)(chunk->data + chunk->used);
	return (size_t)(-at & (alignment - 1));
}

/* The memory is not zeroed, because the callers write it or leave it unused. */
static void *arena_take(struct arena *arena, size_t size, size_t alignment)
{
	struct arena_chunk *chunk = arena->chunks;
	size_t pad = chunk ? arena_padding(chunk, alignment) : 0;
	if (!chunk || pad > chunk->size - chunk->used || size > chunk->size - chunk->used - pad) {
		size_t need;
		if (!checked_add(size, alignment, &need))
			return NULL;
		chunk = add_chunk(arena, need);
		if (!chunk)
			return NULL;
		pad = arena_padding(chunk, alignment);
	}
	void *result = chunk->data + chunk->used + pad;
	chunk->used += pad + size;
	arena->used += pad + size;
	return result;
}

void *arena_alloc(struct arena *arena, size_t size, size_t alignment)
{
	void *zeros = arena_take(arena, size, alignment);
	return zeros ? memset(zeros, 0, size) : NULL;
}

void *arena_alloc_array(struct arena *arena, size_t count, size_t size, size_t alignment)
{
	size_t total;
	return checked_mul(count, size, &total) ? arena_alloc(arena, total, alignment) : NULL;
}

void *arena_copy(struct arena *arena, const void *data, size_t size)
{
	void *copy = arena_take(arena, size, 8);
	if (copy && size > 0)
		memcpy(copy, data, size);
	return copy;
}

bool arena_vec_grow(struct arena *arena, void *items, size_t *cap, size_t item_size, size_t need)
{
	size_t new_cap = MAX(VEC_FIRST_ITEMS, *cap);
	while (new_cap < need)
		if (!checked_mul(new_cap, (size_t)2, &new_cap))
			return false;
	size_t bytes;
	void *old, *grown = checked_mul(new_cap, item_size, &bytes) ? arena_take(arena, bytes, _Alignof(max_align_t))
								    : NULL;
	if (!grown)
		return false;
	memcpy(&old, items, sizeof(old));
	if (*cap > 0)
		memcpy(grown, old, *cap * item_size);
	memcpy(items, &grown, sizeof(grown));
	*cap = new_cap;
	return true;
}

char *arena_string(struct arena *arena, const char *text, size_t len)
{
	size_t size;
	char *copy = checked_add(len, (size_t)1, &size) ? arena_take(arena, size, 1) : NULL;
	if (copy && len > 0)
		memcpy(copy, text, len);
	if (copy)
		copy[len] = '\0';
	return copy;
}

char *arena_printf(struct arena *arena, const char *format, ...)
{
	char first[PRINTED_FIRST];
	va_list args;
	va_start(args, format);
	va_list again;
	va_copy(again, args);
	int len = vsnprintf(first, sizeof(first), format, args);
	va_end(args);
	char *text = NULL;
	if (len >= 0 && (size_t)len < sizeof(first))
		text = arena_string(arena, first, (size_t)len);
	else if (len >= 0)
		text = arena_take(arena, (size_t)len + 1, 1);
	if (text && (size_t)len >= sizeof(first))
		vsnprintf(text, (size_t)len + 1, format, again);
	va_end(again);
	return text;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * arena.h - allocates memory that is freed all at once by arena_deinit. It is not for memory that must be freed
 * earlier.
 *
 * An arena is owned by the struct that embeds it, and used by one thread at a time. Functions that return a pointer
 * return NULL when memory runs out or a size overflows. Memory of arena_alloc, arena_alloc_array and their macros is
 * zeroed.
 *
 *	struct arena a; arena_init(&a);
 *	int *v = arena_array(&a, int, n);
 *	arena_deinit(&a);
 */
#ifndef BASE_ARENA_H
#define BASE_ARENA_H

#include <stdbool.h>
#include <stddef.h>

struct arena_chunk;
struct arena {
	struct arena_chunk *chunks; /* The newest chunk is first. */
	size_t used; /* Number of allocated bytes. */
};

void arena_init(struct arena *arena);
void arena_deinit(struct arena *arena);
/* alignment is a power of two. A size of 0 returns a valid pointer. */
void *arena_alloc(struct arena *arena, size_t size, size_t alignment);
void *arena_alloc_array(struct arena *arena, size_t count, size_t size, size_t alignment);
#define arena_array(arena, type, count) ((type *)arena_alloc_array((arena), (count), sizeof(type), _Alignof(type)))
#define arena_new(arena, type)		arena_array(arena, type, 1)
void *arena_copy(struct arena *arena, const void *data, size_t size);
/* Copies len bytes and adds a NUL. */
char *arena_string(struct arena *arena, const char *text, size_t len);
/*
 * Makes room for need items in a VEC with items in the arena. The previous items stay allocated until the arena is
 * freed; do not use vec_push and vec_free on such a VEC. Returns false if out of memory, and the VEC is unchanged.
 */
bool arena_vec_grow(struct arena *arena, void *items, size_t *cap, size_t item_size, size_t need);
#define arena_vec_reserve(arena, v, need) \
	((need) <= (v)->cap || arena_vec_grow((arena), &(v)->items, &(v)->cap, sizeof(*(v)->items), (need)))
#define arena_vec_push(arena, v, value) \
	(arena_vec_reserve((arena), (v), (v)->len + 1) ? ((v)->items[(v)->len++] = (value), true) : false)
char *arena_printf(struct arena *arena, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif

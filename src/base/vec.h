/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vec.h - implements growable arrays of any type: struct { T *items; size_t len, cap; }. A zero-initialised array is
 * empty.
 *
 * The owner calls vec_free. vec_reserve and vec_push return false when memory runs out, and leave the array unchanged.
 *
 *	VEC(uint64_t) ids = {0};
 *	if (!vec_push(&ids, id)) return error_nomem(err);
 */
#ifndef BASE_VEC_H
#define BASE_VEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

#define VEC(type)            \
	struct {             \
		type *items; \
		size_t len;  \
		size_t cap;  \
	}

/* Makes room for need items in total. items is the address of the array's items pointer. */
bool vec_grow(void *items, size_t *cap, size_t item_size, size_t need);

#define vec_reserve(v, need) ((need) <= (v)->cap || vec_grow(&(v)->items, &(v)->cap, sizeof(*(v)->items), (need)))
#define vec_push(v, value)   (vec_reserve((v), (v)->len + 1) ? ((v)->items[(v)->len++] = (value), true) : false)
#define vec_free(v)	     (free((v)->items), (v)->items = NULL, (v)->len = (v)->cap = 0)

#endif

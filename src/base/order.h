/* SPDX-License-Identifier: Apache-2.0 */
/*
 * order.h - compares two values for sorting, and searches sorted arrays.
 *
 * These are macros, so that they work with every type. COMPARE evaluates its arguments twice, so they must not have
 * side effects.
 *
 *	size_t end;
 *	LOWER_BOUND(end, map->ranges.len, i, map->ranges.items[i].start <= address);
 *	return end > 0 ? &map->ranges.items[end - 1] : NULL;   // the last range that starts at the address or before it
 */
#ifndef BASE_ORDER_H
#define BASE_ORDER_H

#include <stddef.h>

/* Returns a negative number, 0 or a positive number, for qsort. */
#define COMPARE(a, b) ((a) < (b) ? -1 : (a) > (b))

/*
 * Sets found to the first index from begin to below end for which is_before, an expression in index, is false, or to
 * end if there is none. If it is false for an index, it must be false for all later ones.
 */
#define LOWER_BOUND_IN(found, begin, end, index, is_before)                      \
	do {                                                                     \
		size_t bound_low = (begin), bound_high = (end);                  \
		while (bound_low < bound_high) {                                 \
			size_t index = bound_low + (bound_high - bound_low) / 2; \
			if (is_before)                                           \
				bound_low = index + 1;                           \
			else                                                     \
				bound_high = index;                              \
		}                                                                \
		(found) = bound_low;                                             \
	} while (0)

#define LOWER_BOUND(found, count, index, is_before) LOWER_BOUND_IN(found, 0, count, index, is_before)

/* Comparison functions for qsort and bsearch, for int, double and `const char *`. */
int order_ints(const void *a, const void *b);
int order_doubles(const void *a, const void *b);
int order_strings(const void *a, const void *b);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * walk_spans.h - allocates spans (ranges of elements) of an array in the kernel; their sizes are powers of two. A freed
 * span is not reused until walk_spans_age was called twice, because BPF programs may still read it.
 *
 *	walk_spans_take(&spans, count, &span); ... walk_spans_give(&spans, span); ... walk_spans_age(&spans);
 */
#ifndef BPF_WALK_SPANS_H
#define BPF_WALK_SPANS_H

#include <stdint.h>

#include "base/vec.h"

#define WALK_SPAN_SIZES 11 /* Sizes are 1 to 1,024. */

struct walk_span {
	uint32_t first; /* Index of the first element. */
	uint8_t size; /* Binary logarithm of the number of elements, plus one; 0 for no span. */
};

struct walk_spans {
	uint32_t used, max; /* Number of elements that were ever allocated, and the size of the array. */
	VEC(struct walk_span) free[WALK_SPAN_SIZES];
	VEC(struct walk_span) resting[2]; /* Spans freed after the last walk_spans_age, and between the last two. */
};

void walk_spans_init(struct walk_spans *spans, uint32_t max);
void walk_spans_deinit(struct walk_spans *spans);
/* Allocates a span with at least count elements. Returns false if the array is full, or count is 0 or too large. */
bool walk_spans_take(struct walk_spans *spans, uint32_t count, struct walk_span *span);
/* Frees a span. */
void walk_spans_give(struct walk_spans *spans, struct walk_span span);
void walk_spans_age(struct walk_spans *spans);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * walk_spans.h - tracks which parts of an array in the kernel are in use: spans of a power of two, taken and given
 * back. A span that is given back is not reused until walk_spans_age was called twice, because programs may still read
 * it.
 *
 *	walk_spans_take(&spans, count, &span); ... walk_spans_give(&spans, span); ... walk_spans_age(&spans);
 */
#ifndef BPF_WALK_SPANS_H
#define BPF_WALK_SPANS_H

#include <stdint.h>

#include "base/vec.h"

#define WALK_SPAN_SIZES 11 /* 1 to 1,024 */

struct walk_span {
	uint32_t first;
	uint8_t size; /* as a power of two, plus one; 0: none */
};

struct walk_spans {
	uint32_t used, max; /* of the array */
	VEC(struct walk_span) free[WALK_SPAN_SIZES];
	VEC(struct walk_span) resting[2]; /* given back since the last age, and before it */
};

void walk_spans_init(struct walk_spans *spans, uint32_t max);
void walk_spans_deinit(struct walk_spans *spans);
/* False: it is full, or count is 0 or too much. */
bool walk_spans_take(struct walk_spans *spans, uint32_t count, struct walk_span *span);
void walk_spans_give(struct walk_spans *spans, struct walk_span span);
void walk_spans_age(struct walk_spans *spans);

#endif

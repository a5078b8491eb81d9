/* SPDX-License-Identifier: Apache-2.0 */
#include "bpf/walk_spans.h"

#include <string.h>

void walk_spans_init(struct walk_spans *spans, uint32_t max)
{
	*spans = (struct walk_spans){.max = max};
}

void walk_spans_deinit(struct walk_spans *spans)
{
	for (unsigned i = 0; i < WALK_SPAN_SIZES; i++)
		vec_free(&spans->free[i]);
	vec_free(&spans->resting[0]);
	vec_free(&spans->resting[1]);
}

bool walk_spans_take(struct walk_spans *spans, uint32_t count, struct walk_span *span)
{
	unsigned power = 0;
	if (count == 0 || count > 1u << (WALK_SPAN_SIZES - 1))
		return false;
	while (1u << power < count)
		power++;
	if (spans->free[power].len > 0) {
		*span = spans->free[power].items[--spans->free[power].len];
		return true;
	}
	if (spans->max - spans->used < 1u << power)
		return false;
	*span = (struct walk_span){.first = spans->used, .size = (uint8_t)(power + 1)};
	spans->used += 1u << power;
	return true;
}

void walk_spans_give(struct walk_spans *spans, struct walk_span span)
{
	/* If there is no memory, the span remains unused. */
	if (span.size > 0)
		(void)vec_push(&spans->resting[0], span);
}

void walk_spans_age(struct walk_spans *spans)
{
	for (size_t i = 0; i < spans->resting[1].len; i++) {
		struct walk_span span = spans->resting[1].items[i];
		(void)vec_push(&spans->free[span.size - 1], span);
	}
	spans->resting[1].len = 0;
	for (size_t i = 0; i < spans->resting[0].len; i++)
		(void)vec_push(&spans->resting[1], spans->resting[0].items[i]);
	spans->resting[0].len = 0;
}

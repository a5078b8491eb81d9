/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/live/live_walked.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"

#define LIVE_WALKED_HEAD offsetof(struct sample_stack, stack.ips)

enum tally_status live_walked_init(struct live_walked *walked, struct tally_error *err)
{
	walked->kept = calloc(LIVE_WALKED_KEPT, sizeof(*walked->kept));
	walked->is_on = walked->kept != NULL;
	return walked->is_on ? TALLY_OK : error_nomem(err);
}

void live_walked_deinit(struct live_walked *walked)
{
	free(walked->kept);
	*walked = (struct live_walked){0};
}

bool live_walked_take(struct live_walked *walked, const struct record_layout *layout, const struct record *record)
{
	struct cursor c = cursor_make(record->bytes, false);
	struct sample_stack *to = &walked->kept[walked->next % LIVE_WALKED_KEPT];
	cursor_skip(&c, layout->fixed_bytes);
	uint32_t size = cursor_u32(&c);
	const uint8_t *data = cursor_take(&c, size);
	if (c.failed || size < LIVE_WALKED_HEAD)
		return false;
	walked->unmatched += to->tid != 0;
	to->tid = 0;
	memcpy(to, data, LIVE_WALKED_HEAD);
	if (to->magic != SAMPLE_STACK_MAGIC || to->stack.count > WALK_FRAMES ||
		size - LIVE_WALKED_HEAD < 8 * (size_t)to->stack.count || to->stack.end >= WALK_ENDS) {
		to->tid = 0;
		return false;
	}
	memcpy(to->stack.ips, data + LIVE_WALKED_HEAD, 8 * (size_t)to->stack.count);
	walked->next++;
	return true;
}

struct walk_stack *live_walked_find(struct live_walked *walked, uint32_t tid)
{
	if (tid == 0 || !walked->is_on)
		return NULL;
	for (unsigned i = 1; i <= LIVE_WALKED_KEPT; i++) {
		struct sample_stack *kept = &walked->kept[(walked->next - i) % LIVE_WALKED_KEPT];
		if (kept->tid != tid)
			continue;
		kept->tid = 0;
		return &kept->stack;
	}
	return NULL;
}

void live_walked_forget(struct live_walked *walked)
{
	for (unsigned i = 0; walked->is_on && i < LIVE_WALKED_KEPT; i++) {
		walked->unmatched += walked->kept[i].tid != 0;
		walked->kept[i].tid = 0;
	}
}

void live_walked_count(const struct walk_stack *stack, struct stack_ends *ends, uint64_t *unknown)
{
	static const enum unwind_end as[] = {[WALK_ROOT] = UNWIND_ROOT,
		[WALK_SHORT] = UNWIND_STACK_SHORT,
		[WALK_NO_TABLE] = UNWIND_NO_CFI,
		[WALK_BROKEN] = UNWIND_BROKEN,
		[WALK_LIMIT] = UNWIND_LIMIT,
		[WALK_NO_REGISTERS] = UNWIND_NO_REGISTERS};
	ends->ends[as[stack->end]]++;
	ends->bridged += stack->bridged > 0;
	*unknown += stack->is_unknown;
}

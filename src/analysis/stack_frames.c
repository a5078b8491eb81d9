#include "analysis/stack_frames.h"

#include <stdlib.h>

#include "base/thread_pool.h"

#define STACKS_PER_TASK 8192

/* Where a list lies in the table, to be written. */
static uint32_t *items_of(const struct list_table *table, size_t stack)
{
	return table->words.items + table->starts.items[stack] + LIST_HEAD_WORDS;
}

/* What calls main has no name where the C library has no symbols but those that it exports. */
static bool is_whole(const struct stack_frames *stacks, const uint32_t *items, uint32_t count)
{
	uint8_t last = count ? stacks->frames[items[count - 1]].role : FRAME_OTHER;
	return last == FRAME_FIRST ||
	       (last == FRAME_NAMELESS && count > 1 && stacks->frames[items[count - 2]].role == FRAME_MAIN);
}

static void translate(const struct stack_frames *stacks, size_t stack)
{
	uint32_t count = list_table_get(stacks->stacks, (uint32_t)stack).count;
	uint32_t *items = items_of(stacks->stacks, stack);
	bool has_calls = false;
	for (uint32_t i = 0; i < count; i++)
		has_calls |= stacks->frames[items[i]].has_inlined_calls;
	stacks->kinds[stack] = has_calls ? STACK_HAS_CALLS : 0;
	if (is_whole(stacks, items, count))
		stacks->kinds[stack] |= STACK_IS_WHOLE;
	if (has_calls)
		return;
	for (uint32_t i = 0; i < count; i++)
		items[i] = stacks->frames[items[i]].frame;
	stacks->hashes[stack] = list_table_hash(items, count);
}

static void translate_some(void *context, size_t index, unsigned worker)
{
	const struct stack_frames *stacks = context;
	size_t count = list_table_len(stacks->stacks), end = (index + 1) * STACKS_PER_TASK;
	for (size_t i = index * STACKS_PER_TASK; i < end && i < count; i++)
		translate(stacks, i);
}

bool stack_frames_translate(struct stack_frames *stacks, unsigned threads)
{
	size_t count = list_table_len(stacks->stacks);
	stacks->hashes = malloc((count + 1) * sizeof(*stacks->hashes));
	stacks->kinds = malloc((count + 1) * sizeof(*stacks->kinds));
	if (!stacks->hashes || !stacks->kinds)
		return false;
	thread_pool_for((count + STACKS_PER_TASK - 1) / STACKS_PER_TASK, threads, translate_some, stacks);
	return true;
}

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

static void translate(struct stack_frames *stacks, size_t stack)
{
	uint32_t count = list_table_get(stacks->stacks, (uint32_t)stack).count;
	uint32_t *items = items_of(stacks->stacks, stack), calls = 0;
	for (uint32_t i = 0; i < count; i++)
		calls += stacks->frames[items[i]].call_count;
	stacks->kinds[stack] = calls ? STACK_HAS_CALLS : 0;
	if (is_whole(stacks, items, count))
		stacks->kinds[stack] |= STACK_IS_WHOLE;
	if (count == 1 && stacks->frames[items[0]].role == FRAME_NAMELESS)
		stacks->kinds[stack] |= STACK_IS_BARE;
	if (calls) {
		__atomic_store_n(&stacks->has_calls, true, __ATOMIC_RELAXED);
		return;
	}
	for (uint32_t i = 0; i < count; i++)
		items[i] = stacks->frames[items[i]].frame;
	stacks->hashes[stack] = list_table_hash(items, count);
}

static size_t task_end(const struct stack_frames *stacks, size_t index)
{
	return thread_pool_task_end(index, STACKS_PER_TASK, list_table_len(stacks->stacks));
}

static void translate_some(void *context, size_t index, unsigned worker)
{
	for (size_t i = index * STACKS_PER_TASK; i < task_end(context, index); i++)
		translate(context, i);
}

/* Where the stacks with calls begin, once all are known. */
static size_t place_called(struct stack_frames *stacks)
{
	size_t at = 0, count = list_table_len(stacks->stacks);
	for (size_t i = 0; i < count; i++) {
		stacks->begin[i] = at;
		if (!(stacks->kinds[i] & STACK_HAS_CALLS))
			continue;
		struct list list = list_table_get(stacks->stacks, (uint32_t)i);
		at += list.count;
		for (uint32_t k = 0; k < list.count; k++)
			at += stacks->frames[list.items[k]].call_count;
	}
	stacks->begin[count] = at;
	return at;
}

static void write_called(const struct stack_frames *stacks, size_t stack)
{
	struct list list = list_table_get(stacks->stacks, (uint32_t)stack);
	uint32_t *to = stacks->called + stacks->begin[stack];
	for (uint32_t i = 0; i < list.count; i++) {
		const struct stack_frame *frame = &stacks->frames[list.items[i]];
		for (uint32_t k = 0; k < frame->call_count; k++)
			*to++ = stacks->inlined[frame->first_call + k];
		*to++ = frame->frame;
	}
	list = stack_frames_get(stacks, (uint32_t)stack);
	stacks->hashes[stack] = list_table_hash(list.items, list.count);
}

static void write_some(void *context, size_t index, unsigned worker)
{
	const struct stack_frames *stacks = context;
	for (size_t i = index * STACKS_PER_TASK; i < task_end(stacks, index); i++)
		if (stacks->kinds[i] & STACK_HAS_CALLS)
			write_called(stacks, i);
}

bool stack_frames_translate(struct stack_frames *stacks, unsigned threads)
{
	size_t count = list_table_len(stacks->stacks), tasks = thread_pool_tasks(count, STACKS_PER_TASK);
	stacks->hashes = malloc((count + 1) * sizeof(*stacks->hashes));
	stacks->kinds = malloc((count + 1) * sizeof(*stacks->kinds));
	if (!stacks->hashes || !stacks->kinds)
		return false;
	thread_pool_for(tasks, threads, translate_some, stacks);
	if (!stacks->has_calls)
		return true;
	stacks->begin = malloc((count + 1) * sizeof(*stacks->begin));
	if (!stacks->begin)
		return false;
	stacks->called = malloc((place_called(stacks) + 1) * sizeof(*stacks->called));
	if (!stacks->called)
		return false;
	thread_pool_for(tasks, threads, write_some, stacks);
	return true;
}

void stack_frames_forget_stacks(struct stack_frames *stacks)
{
	free(stacks->hashes);
	free(stacks->begin);
	free(stacks->called);
	stacks->hashes = NULL;
	stacks->begin = NULL;
	stacks->called = NULL;
}

void stack_frames_deinit(struct stack_frames *stacks)
{
	stack_frames_forget_stacks(stacks);
	free(stacks->kinds);
	*stacks = (struct stack_frames){0};
}

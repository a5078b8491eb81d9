/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/stack_frames.h"

#include <stdlib.h>
#include <string.h>

#include "base/thread_pool.h"

#define STACKS_PER_TASK 8192

static uint8_t stack_frames_role_of(const struct stack_frames *stacks, uint32_t frame)
{
	return stacks->roles[frame] & (uint8_t)~FRAME_HAS_CALLS;
}

/* Returns whether a stack is complete: it contains the function that a thread begins in, or ends with main and a caller
 * without a name, because the C library has only its exported symbols. Further frames may follow the former, because
 * static C libraries keep other values in the frame-pointer register there. */
static bool stack_frames_is_whole(const struct stack_frames *stacks, const uint32_t *items, uint32_t count)
{
	uint8_t last = count ? stack_frames_role_of(stacks, items[count - 1]) : FRAME_OTHER;
	for (uint32_t i = count; i-- > 1 && count - i <= STACK_FRAMES_BEHIND_FIRST + 1;)
		if (stack_frames_role_of(stacks, items[i]) == FRAME_FIRST)
			return true;
	if (count == 1)
		return last == FRAME_FIRST;
	return last == FRAME_NAMELESS && count > 1 && stack_frames_role_of(stacks, items[count - 2]) == FRAME_MAIN;
}

static uint32_t call_count(const struct stack_frames *stacks, uint32_t frame)
{
	if (!(stacks->roles[frame] & FRAME_HAS_CALLS))
		return 0;
	const size_t *begin = &stacks->calls[stacks->numbers[frame]];
	return (uint32_t)(begin[1] - begin[0]);
}

/* Translates a stack in place and returns 0, unless it has inlined calls: then it is translated later, and the result
 * is the number of frames, including these calls, that it will have. */
static size_t stack_frames_translate_one(struct stack_frames *stacks, size_t stack)
{
	const struct list_table *table = stacks->stacks;
	uint32_t count = list_table_get(table, (uint32_t)stack).count;
	uint32_t *items = table->words.items + table->starts.items[stack] + LIST_HEAD_WORDS, calls = 0;
	for (uint32_t i = 0; stacks->inlined && i < count; i++)
		calls += call_count(stacks, items[i]);
	stacks->kinds[stack] = calls ? STACK_HAS_CALLS : 0;
	if (stack_frames_is_whole(stacks, items, count))
		stacks->kinds[stack] |= STACK_IS_WHOLE;
	if (count == 1 && stack_frames_role_of(stacks, items[0]) == FRAME_NAMELESS)
		stacks->kinds[stack] |= STACK_IS_BARE;
	if (calls) {
		__atomic_store_n(&stacks->has_calls, true, __ATOMIC_RELAXED);
		return count + (size_t)calls;
	}
	for (uint32_t i = 0; i < count; i++)
		items[i] = stacks->frames[items[i]];
	stacks->hashes[stack] = list_table_hash(items, count);
	return 0;
}

static size_t stack_frames_task_end(const struct stack_frames *stacks, size_t index)
{
	return thread_pool_task_end(index, STACKS_PER_TASK, list_table_len(stacks->stacks));
}

struct translation {
	struct stack_frames *stacks;
	/* By task: the number of frames of stacks with inlined calls, later their offset in stacks->called. */
	size_t *called;
};

static void translate_some(void *context, size_t index, unsigned worker)
{
	const struct translation *t = context;
	size_t called = 0;
	for (size_t i = index * STACKS_PER_TASK; i < stack_frames_task_end(t->stacks, index); i++)
		called += stack_frames_translate_one(t->stacks, i);
	t->called[index] = called;
}

static size_t write_called(const struct stack_frames *stacks, size_t stack)
{
	struct list list = list_table_get(stacks->stacks, (uint32_t)stack);
	uint32_t *first = stacks->called + stacks->begin[stack], *to = first;
	for (uint32_t i = 0; i < list.count; i++) {
		uint32_t frame = list.items[i], calls = call_count(stacks, frame);
		if (calls) {
			memcpy(to, stacks->inlined + stacks->calls[stacks->numbers[frame]], calls * sizeof(*to));
			to += calls;
		}
		*to++ = stacks->frames[frame];
	}
	stacks->hashes[stack] = list_table_hash(first, (size_t)(to - first));
	return (size_t)(to - first);
}

static void stack_frames_write_some(void *context, size_t index, unsigned worker)
{
	const struct translation *t = context;
	size_t at = t->called[index];
	for (size_t i = index * STACKS_PER_TASK; i < stack_frames_task_end(t->stacks, index); i++) {
		t->stacks->begin[i] = at;
		if (t->stacks->kinds[i] & STACK_HAS_CALLS)
			at += write_called(t->stacks, i);
	}
}

static bool stack_frames_write_all(const struct translation *t, size_t tasks, unsigned threads)
{
	struct stack_frames *stacks = t->stacks;
	size_t count = list_table_len(stacks->stacks), frames = 0;
	/* The number of frames of each task becomes the offset of the first of them. */
	for (size_t i = 0; i < tasks; i++) {
		size_t called = t->called[i];
		t->called[i] = frames;
		frames += called;
	}
	stacks->begin = malloc((count + 1) * sizeof(*stacks->begin));
	stacks->called = malloc((frames + 1) * sizeof(*stacks->called));
	if (!stacks->begin || !stacks->called)
		return false;
	stacks->begin[count] = frames;
	thread_pool_for(tasks, threads, stack_frames_write_some, (void *)(uintptr_t)t);
	return true;
}

bool stack_frames_translate(struct stack_frames *stacks, unsigned threads)
{
	size_t count = list_table_len(stacks->stacks), tasks = thread_pool_tasks(count, STACKS_PER_TASK);
	struct translation translation = {stacks, malloc((tasks + 1) * sizeof(*translation.called))};
	stacks->hashes = malloc((count + 1) * sizeof(*stacks->hashes));
	stacks->kinds = malloc((count + 1) * sizeof(*stacks->kinds));
	bool is_done = translation.called && stacks->hashes && stacks->kinds;
	if (is_done)
		thread_pool_for(tasks, threads, translate_some, &translation);
	if (is_done && stacks->has_calls)
		is_done = stack_frames_write_all(&translation, tasks, threads);
	free(translation.called);
	return is_done;
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

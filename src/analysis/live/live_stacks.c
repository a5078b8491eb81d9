/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/live/live_stacks.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"

#define OVERLAP_LEAST 64 /* Bytes that must be equal: a return address and its surroundings. */
#define OVERLAP_MOST  512
#define ROOM_LEAST    4096

struct known_stack { /* The bytes lie at the end of room, so that the stack may grow down. */
	uint64_t end; /* Address after the last byte. */
	size_t len, room_len;
	uint8_t *room;
};

static struct known_stack *stack_of(uint64_t value)
{
	return (struct known_stack *)(uintptr_t)value;
}

static void forget_all(struct live_stacks *stacks)
{
	size_t position = 0;
	uint64_t tid, value;
	while (map_u64_next(&stacks->by_tid, &position, &tid, &value))
		if (value) {
			free(stack_of(value)->room);
			free(stack_of(value));
		}
	map_u64_deinit(&stacks->by_tid);
	stacks->thread_count = 0;
	stacks->bytes = 0;
}

void live_stacks_deinit(struct live_stacks *stacks)
{
	forget_all(stacks);
}

static struct known_stack *live_stacks_find_or_add(struct live_stacks *stacks, int32_t tid, bool is_cut)
{
	uint64_t known;
	if (!is_cut && (!map_u64_find(&stacks->by_tid, (uint32_t)tid, &known) || !known))
		return NULL;
	/* Most threads with a stack here have ended; the next samples bring back the stacks of running ones. */
	if (stacks->thread_count >= LIVE_THREADS_MAX ||
		stacks->bytes > (stacks->bytes_max ? stacks->bytes_max : LIVE_STACKS_MAX))
		forget_all(stacks);
	uint64_t *slot = map_u64_at(&stacks->by_tid, (uint32_t)tid, NULL);
	if (!slot || *slot)
		return slot ? stack_of(*slot) : NULL;
	struct known_stack *stack = calloc(1, sizeof(*stack));
	if (!stack)
		return NULL;
	*slot = (uintptr_t)stack;
	stacks->thread_count++;
	return stack;
}

static bool live_stacks_make_room(struct live_stacks *stacks, struct known_stack *stack, size_t len)
{
	size_t room_len = stack->room_len ? stack->room_len : ROOM_LEAST;
	if (len <= stack->room_len)
		return true;
	while (room_len < len)
		room_len *= 2;
	uint8_t *room = malloc(room_len);
	if (!room)
		return false;
	if (stack->len)
		memcpy(room + room_len - stack->len, stack->room + stack->room_len - stack->len, stack->len);
	free(stack->room);
	stacks->bytes += room_len - stack->room_len;
	stack->room = room;
	stack->room_len = room_len;
	return true;
}

static bool is_continued(const struct known_stack *stack, uint64_t address, struct tally_bytes copy)
{
	uint64_t end = address + copy.len, low = stack->end - stack->len;
	uint64_t overlap = end - low;
	if (stack->len == 0 || end <= low || end >= stack->end || stack->end - address > LIVE_STACK_MAX)
		return false;
	overlap = MIN(overlap, copy.len);
	overlap = MIN(overlap, OVERLAP_MOST);
	const uint8_t *known = stack->room + stack->room_len - (stack->end - end) - overlap;
	return overlap >= OVERLAP_LEAST && memcmp(known, copy.data + copy.len - overlap, overlap) == 0;
}

struct tally_bytes live_stacks_extend(
	struct live_stacks *stacks, int32_t tid, uint64_t address, struct tally_bytes copy, bool is_cut)
{
	uint64_t end;
	struct known_stack *stack = copy.len ? live_stacks_find_or_add(stacks, tid, is_cut) : NULL;
	if (!stack || __builtin_add_overflow(address, (uint64_t)copy.len, &end))
		return copy;
	if (!is_cut || !is_continued(stack, address, copy)) {
		stack->end = end;
		stack->len = 0;
	}
	size_t len = (size_t)(stack->end - address);
	if (!live_stacks_make_room(stacks, stack, len)) {
		stack->len = 0;
		return copy;
	}
	stack->len = len;
	memcpy(stack->room + stack->room_len - len, copy.data, copy.len);
	return (struct tally_bytes){stack->room + stack->room_len - len, len};
}

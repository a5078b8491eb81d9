/* SPDX-License-Identifier: Apache-2.0 */
#include "machine/address_space.h"

#include "base/array.h"
#include "base/order.h"

void address_space_init(struct address_space *space, struct arena *arena)
{
	*space = (struct address_space){.arena = arena};
}

/* Returns the position of the first active mapping that ends after address. */
static size_t active_lower_bound(const struct address_space *space, uint64_t address)
{
	size_t low;
	LOWER_BOUND(low, space->active.len, middle, space->mappings.items[space->active.items[middle]].end <= address);
	return low;
}

static bool active_insert(struct address_space *space, size_t position, uint32_t index)
{
	if (!arena_vec_reserve(space->arena, &space->active, space->active.len + 1))
		return false;
	uint32_t *items = space->active.items;
	memmove(items + position + 1, items + position, (space->active.len - position) * sizeof(*items));
	items[position] = index;
	space->active.len++;
	return true;
}

static void active_remove(struct address_space *space, size_t position)
{
	uint32_t *items = space->active.items;
	memmove(items + position, items + position + 1, (space->active.len - position - 1) * sizeof(*items));
	space->active.len--;
}

/* Adds a mapping that nothing has ended yet. position: that of the first active mapping after it. */
static bool add_active(struct address_space *space, const struct mapping *mapping, size_t position)
{
	if (!arena_vec_push(space->arena, &space->mappings, *mapping))
		return false;
	uint32_t index = (uint32_t)(space->mappings.len - 1);
	space->mappings.items[index].time_to_ns = MAPPING_FOREVER;
	return active_insert(space, position, index);
}

static bool address_space_add_piece(
	struct address_space *space, const struct mapping *whole, uint64_t start, uint64_t end, uint64_t time_ns)
{
	struct mapping piece = *whole;
	piece.pgoff += start - whole->start;
	piece.start = start;
	piece.end = end;
	piece.time_from_ns = time_ns;
	return add_active(space, &piece, active_lower_bound(space, start));
}

/*
 * Ends the mappings in the range, and keeps their parts outside it. *position becomes that of the first active one
 * after it.
 */
static bool address_space_make_room(
	struct address_space *space, uint64_t start, uint64_t end, uint64_t time_ns, size_t *position)
{
	if (!arena_vec_push(space->arena, &space->change_times_ns, time_ns))
		return false;
	while ((*position = active_lower_bound(space, start)) < space->active.len) {
		uint32_t index = space->active.items[*position];
		if (space->mappings.items[index].start >= end)
			break;
		struct mapping old = space->mappings.items[index];
		space->mappings.items[index].time_to_ns = time_ns;
		active_remove(space, *position);
		if (old.start < start && !address_space_add_piece(space, &old, old.start, start, time_ns))
			return false;
		if (old.end > end && !address_space_add_piece(space, &old, end, old.end, time_ns))
			return false;
	}
	return true;
}

bool address_space_unmap(struct address_space *space, uint64_t start, uint64_t end, uint64_t time_ns)
{
	size_t position;
	return address_space_make_room(space, start, end, time_ns, &position);
}

bool address_space_map(struct address_space *space, const struct mapping *mapping)
{
	size_t position;
	return mapping->end <= mapping->start ||
	       (address_space_make_room(space, mapping->start, mapping->end, mapping->time_from_ns, &position) &&
		       add_active(space, mapping, position));
}

/* Returns the first generated code that ends after address; NULL if there is none. */
static const struct mapping *next_generated(const struct address_space *space, uint64_t address)
{
	for (size_t i = active_lower_bound(space, address); i < space->active.len; i++) {
		const struct mapping *map = &space->mappings.items[space->active.items[i]];
		if (map->is_generated)
			return map;
	}
	return NULL;
}

bool address_space_map_below(struct address_space *space, const struct mapping *mapping)
{
	struct mapping piece = *mapping;
	while (piece.start < mapping->end) {
		const struct mapping *above = next_generated(space, piece.start);
		bool is_over = !above || above->start >= mapping->end;
		uint64_t next = is_over ? mapping->end : above->end;
		piece.end = is_over ? mapping->end : above->start;
		piece.pgoff = mapping->pgoff + (piece.start - mapping->start);
		if (!address_space_map(space, &piece))
			return false;
		piece.start = next;
	}
	return true;
}

static bool copy_active(struct address_space *child, const struct address_space *from, uint64_t time_ns)
{
	child->has_anonymous |= from->has_anonymous;
	for (size_t i = 0; i < from->mappings.len; i++) {
		struct mapping map = from->mappings.items[i];
		if (map.time_from_ns > time_ns || map.time_to_ns <= time_ns)
			continue;
		map.time_from_ns = time_ns;
		if (!address_space_map(child, &map))
			return false;
	}
	return true;
}

bool address_space_flatten(struct address_space *flat, const struct address_space *space, uint64_t time_ns)
{
	const struct address_space *chain[ADDRESS_SPACE_MAX_DEPTH + 1];
	uint64_t times[ADDRESS_SPACE_MAX_DEPTH + 1];
	size_t depth = 0;
	for (const struct address_space *s = space; s && depth <= ADDRESS_SPACE_MAX_DEPTH; s = s->parent) {
		chain[depth] = s;
		times[depth++] = time_ns;
		time_ns = s->fork_time_ns;
	}
	/*
	 * The oldest comes first, so that newer mappings win. Each space is copied as it was when its descendant was
	 * forked.
	 */
	while (depth-- > 0)
		if (!copy_active(flat, chain[depth], times[depth]))
			return false;
	return true;
}

bool address_space_fork(struct address_space *child, const struct address_space *parent, uint64_t time_ns)
{
	/*
	 * A process that has mapped nothing itself, as between fork and exec, has the mappings that its parent had at
	 * the fork.
	 */
	while (parent->mappings.len == 0 && parent->parent) {
		time_ns = parent->fork_time_ns;
		parent = parent->parent;
	}
	child->parent = parent;
	child->fork_time_ns = time_ns;
	child->depth = parent->depth + 1;
	if (child->depth <= ADDRESS_SPACE_MAX_DEPTH)
		return true;
	child->parent = NULL;
	child->depth = 0;
	if (!address_space_flatten(child, parent, time_ns))
		return false;
	for (size_t i = 0; i < child->mappings.len; i++)
		child->mappings.items[i].time_from_ns = 0;
	return true;
}

#define FEW_MAPPINGS 32

static int compare_start(const void *a, const void *b)
{
	const struct mapping *x = a;
	const struct mapping *y = b;
	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return COMPARE(x->time_from_ns, y->time_from_ns);
}

/* Most processes have few mappings, nearly in order, for which an insertion sort is faster. */
static void address_space_sort_by_start(struct mapping *maps, size_t count)
{
	if (count > FEW_MAPPINGS) {
		qsort(maps, count, sizeof(*maps), compare_start);
		return;
	}
	for (size_t i = 1; i < count; i++) {
		if (compare_start(&maps[i - 1], &maps[i]) <= 0)
			continue;
		struct mapping map = maps[i];
		size_t to = i;
		for (; to > 0 && compare_start(&maps[to - 1], &map) > 0; to--)
			maps[to] = maps[to - 1];
		maps[to] = map;
	}
}

/* Collects the mappings that nothing has ended: later records change these. */
static bool collect_active(struct address_space *space)
{
	space->active.len = 0;
	for (size_t i = 0; i < space->mappings.len; i++)
		if (space->mappings.items[i].time_to_ns == MAPPING_FOREVER &&
			!arena_vec_push(space->arena, &space->active, (uint32_t)i))
			return false;
	return true;
}

bool address_space_finish(struct address_space *space)
{
	if (space->finished_changes == space->change_times_ns.len)
		return true;
	struct mapping *maps = space->mappings.items;
	size_t kept = 0;
	for (size_t i = 0; i < space->mappings.len; i++) {
		if (maps[i].time_from_ns >= maps[i].time_to_ns)
			continue;
		if (kept != i)
			maps[kept] = maps[i];
		kept++;
	}
	space->mappings.len = kept;
	space->max_end.len = 0;
	if (!arena_vec_reserve(space->arena, &space->max_end, kept))
		return false;
	address_space_sort_by_start(maps, kept);
	uint64_t highest = 0;
	for (size_t i = 0; i < kept; i++) {
		highest = MAX(highest, maps[i].end);
		space->max_end.items[space->max_end.len++] = highest;
	}
	space->finished_changes = space->change_times_ns.len;
	return collect_active(space);
}

static void cut_range(struct address_range *range, uint64_t start, uint64_t end)
{
	if (start > range->start)
		range->start = start;
	if (end < range->end)
		range->end = end;
}

static const struct mapping *find_own(
	const struct address_space *space, uint64_t time_ns, uint64_t address, struct address_range *range)
{
	const struct mapping *maps = space->mappings.items;
	size_t low;
	LOWER_BOUND(low, space->mappings.len, middle, maps[middle].start <= address);
	uint64_t next = low < space->mappings.len ? maps[low].start : UINT64_MAX;
	uint64_t before = 0; /* Greatest end of the mappings that end at or below the address. */
	size_t i = low;
	for (; i-- > 0 && space->max_end.items[i] > address;) {
		if (address >= maps[i].end) {
			before = MAX(maps[i].end, before);
		} else if (maps[i].time_from_ns <= time_ns && time_ns < maps[i].time_to_ns) {
			cut_range(range, maps[i].start, MIN(maps[i].end, next));
			return &maps[i];
		}
	}
	if (i < low && space->max_end.items[i] > before)
		before = space->max_end.items[i];
	cut_range(range, before, next);
	return NULL;
}

const struct mapping *address_space_find_range(
	const struct address_space *space, uint64_t time_ns, uint64_t address, struct address_range *range)
{
	for (; space; space = space->parent) {
		const struct mapping *map = find_own(space, time_ns, address, range);
		if (map)
			return map;
		time_ns = space->fork_time_ns;
	}
	return NULL;
}

const struct mapping *address_space_find(const struct address_space *space, uint64_t time_ns, uint64_t address)
{
	struct address_range range = {0, UINT64_MAX};
	return address_space_find_range(space, time_ns, address, &range);
}

size_t address_space_changes(const struct address_space *space, uint64_t time_ns, struct valid_span *span)
{
	const uint64_t *times = space->change_times_ns.items;
	size_t low;
	LOWER_BOUND(low, space->change_times_ns.len, middle, times[middle] <= time_ns);
	if (span)
		valid_span_cut(
			span, low > 0 ? times[low - 1] : 0, low < space->change_times_ns.len ? times[low] : UINT64_MAX);
	return low;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/plain/plain_order.h"

#include "base/array.h"
#include "base/order.h"
#include "base/thread_pool.h"

#define PLAIN_ORDER_TASK_SPOTS 8192

static uint64_t pack_spot(size_t fold, size_t index)
{
	return (uint64_t)fold << 32 | index;
}

/* Areas are indexed by binary; the last one is for addresses outside all binaries. */
static struct plain_area *area_of(const struct plain_order *o, uint32_t binary)
{
	return &o->areas[binary == RESOLVE_NONE ? o->area_count - 1 : binary];
}

static void measure_area(struct plain_order *o, const struct plain_group *group)
{
	struct plain_area *area = area_of(o, group->binary);
	if (area->end == 0 || group->first < area->first)
		area->first = group->first;
	if (area->end == 0 || group->last > area->last)
		area->last = group->last;
	area->end += group->spots;
}

/* Computes the positions of areas in the order. Returns false if the keys of all areas together need more than 64
 * bits. */
static bool lay_out_areas(struct plain_order *o)
{
	size_t begin = 0;
	uint64_t key = 0;
	bool fits = true;
	for (size_t i = 0; i < o->area_count; i++) {
		struct plain_area *area = &o->areas[i];
		size_t count = area->end;
		uint64_t last;
		area->binary = i + 1 < o->area_count ? (uint32_t)i : RESOLVE_NONE;
		area->begin = begin;
		area->end = begin += count;
		if (count == 0)
			continue;
		area->shift = area->first - key;
		fits = fits && !__builtin_add_overflow(key, area->last - area->first, &last) && last < UINT64_MAX;
		key = fits ? last + 1 : 0;
	}
	return fits;
}

static void put_fold(void *context, size_t fold, unsigned worker)
{
	const struct plain_order *o = context;
	const struct plain_fold *from = &o->placed->folds[fold];
	struct sort_key *to = o->keys + o->begin[fold];
	for (size_t i = 0; i < from->spot_count; i++) {
		const struct plain_spot *spot = &from->spots[i];
		const struct plain_area *area = area_of(o, from->groups.items[spot->group].binary);
		to[i] = (struct sort_key){spot->address - area->shift, pack_spot(fold, i)};
	}
}

static void sort_order(const struct plain_order *o, size_t begin, size_t end)
{
	key_sort_by_all(o->keys + begin, o->room + begin, end - begin, o->placed->threads);
}

static uint32_t plain_order_binary_of(const struct plain_order *o, uint64_t packed)
{
	const struct plain_fold *fold = &o->placed->folds[packed >> 32];
	return fold->groups.items[fold->spots[(uint32_t)packed].group].binary;
}

/* Sorts by area, and within an area by address, by two stable sorts; for keys that cannot hold both. */
static void sort_by_area(const struct plain_order *o)
{
	sort_order(o, 0, o->spot_count);
	for (size_t i = 0; i < o->spot_count; i++) {
		uint32_t binary = plain_order_binary_of(o, o->keys[i].index);
		o->keys[i].key = (uint64_t)(area_of(o, binary) - o->areas);
	}
	sort_order(o, 0, o->spot_count);
	for (size_t i = 0; i < o->spot_count; i++)
		o->keys[i].key = plain_order_spot(o, o->keys[i].index)->address;
}

static bool order_spots(struct plain_order *o)
{
	o->area_count = machine_binary_count(o->machine) + 1;
	o->areas = calloc(o->area_count, sizeof(*o->areas));
	o->keys = malloc((o->spot_count + 1) * sizeof(*o->keys));
	o->room = malloc((3 * o->spot_count + 1) * sizeof(*o->room));
	if (!o->areas || !o->keys || !o->room)
		return false;
	for (size_t fold = 0; fold < o->placed->count; fold++)
		for (size_t i = 0; i < o->placed->folds[fold].groups.len; i++)
			measure_area(o, &o->placed->folds[fold].groups.items[i]);
	bool fits = lay_out_areas(o);
	for (size_t i = 0; !fits && i < o->area_count; i++)
		o->areas[i].shift = 0;
	thread_pool_for(o->placed->count, o->placed->threads, put_fold, o);
	if (fits)
		sort_order(o, 0, o->spot_count);
	else
		sort_by_area(o);
	return true;
}

/* Replaces the keys from begin to end, which are addresses in one area, by the start addresses of their functions. */
static void find_starts(const struct plain_order *o, struct plain_area *area, size_t begin, size_t end)
{
	uint32_t binary = area->binary;
	uint32_t id = binary == RESOLVE_NONE ? RESOLVE_NONE : o->placed->store_ids[binary];
	const struct machine_binary *bpf = binary == RESOLVE_NONE ? NULL : machine_binary_get(o->machine, binary);
	struct symbol_span span = {.first = 1, .last = 0};
	if (bpf && bpf->kind != MACHINE_BPF)
		bpf = NULL;
	for (size_t i = begin; i < end; i++) {
		uint64_t address = o->keys[i].key + area->shift, start = bpf ? bpf->start : address;
		if (id != RESOLVE_NONE) {
			if (address < span.first || address > span.last)
				binary_store_find_span(o->placed->store, id, address, &span);
			start = span.symbol ? span.symbol->start : address;
		}
		o->keys[i].key = start;
		o->room[i].index = id != RESOLVE_NONE ? (uintptr_t)span.symbol : 0;
		if (i > begin && start < o->keys[i - 1].key)
			__atomic_store_n(&area->is_mixed, true, __ATOMIC_RELAXED);
	}
}

size_t plain_order_area(const struct plain_order *o, size_t at)
{
	size_t low;
	LOWER_BOUND(low, o->area_count, middle, o->areas[middle].end <= at);
	return low;
}

static void find_some_starts(void *context, size_t task, unsigned worker)
{
	const struct plain_order *o = context;
	size_t at = task * PLAIN_ORDER_TASK_SPOTS,
	       end = thread_pool_task_end(task, PLAIN_ORDER_TASK_SPOTS, o->spot_count);
	for (size_t area = plain_order_area(o, at); at < end; area++) {
		size_t area_end = MIN(o->areas[area].end, end);
		find_starts(o, &o->areas[area], at, area_end);
		at = area_end;
	}
}

/* Sorts an area by its keys, the starts of functions. Few entries are out of order: these are sorted separately and
 * merged with the others. */
static void bring_area_together(const struct plain_order *o, const struct plain_area *area)
{
	struct sort_key *order = o->keys, *late = o->room + o->spot_count;
	size_t kept = area->begin, late_count = 0;
	for (size_t i = area->begin; i < area->end; i++) {
		if (kept > area->begin && order[i].key < order[kept - 1].key)
			late[late_count++] = order[i];
		else
			order[kept++] = order[i];
	}
	key_sort(late, late + late_count, late_count);
	for (size_t to = area->end; late_count > 0;) {
		bool is_late = kept == area->begin || late[late_count - 1].key >= order[kept - 1].key;
		order[--to] = is_late ? late[--late_count] : order[--kept];
	}
}

/* Makes the entries of each function adjacent: another function inside it may have split them. */
static void bring_together(const struct plain_order *o)
{
	for (size_t at = PLAIN_ORDER_TASK_SPOTS; at < o->spot_count; at += PLAIN_ORDER_TASK_SPOTS) {
		struct plain_area *area = &o->areas[plain_order_area(o, at)];
		if (at > area->begin && o->keys[at].key < o->keys[at - 1].key)
			area->is_mixed = true;
	}
	for (size_t i = 0; i < o->area_count; i++)
		if (o->areas[i].is_mixed)
			bring_area_together(o, &o->areas[i]);
}

const struct symbol *plain_order_symbol(const struct plain_order *o, const struct plain_area *area, size_t at)
{
	if (!area->is_mixed)
		return (const struct symbol *)(uintptr_t)o->room[at].index;
	uint32_t id = area->binary == RESOLVE_NONE ? RESOLVE_NONE : o->placed->store_ids[area->binary];
	return id == RESOLVE_NONE ? NULL : binary_store_find(o->placed->store, id, o->keys[at].key);
}

size_t plain_order_function_end(const struct plain_order *o, const struct plain_area *area, size_t at)
{
	uint64_t start = o->keys[at].key;
	while (at < area->end && o->keys[at].key == start)
		at++;
	return at;
}

bool plain_order_make(struct plain_order *o, const struct plain_placed *placed, const struct machine *machine)
{
	*o = (struct plain_order){.placed = placed, .machine = machine};
	o->begin = calloc(placed->count + 1, sizeof(*o->begin));
	for (size_t i = 0; o->begin && i < placed->count; i++)
		o->begin[i + 1] = o->begin[i] + placed->folds[i].spot_count;
	o->spot_count = o->begin ? o->begin[placed->count] : 0;
	if (!o->begin || o->spot_count >= UINT32_MAX / 2 || !order_spots(o))
		return false;
	thread_pool_for(thread_pool_tasks(o->spot_count, PLAIN_ORDER_TASK_SPOTS), placed->threads, find_some_starts, o);
	bring_together(o);
	return true;
}

void plain_order_deinit(struct plain_order *o)
{
	free(o->begin);
	free(o->areas);
	free(o->keys);
	free(o->room);
	*o = (struct plain_order){0};
}

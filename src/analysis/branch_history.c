/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/branch_history.h"

#include "abi/branch.h"
#include "base/array.h"
#include "base/limits.h"
#include "profile/profile.h"

#define LONGEST_CALL_BYTES 8 /* A return address lies at most that far behind its call. */

struct branch_list {
	struct sample_branch items[LIMIT_BRANCH_HISTORY];
	size_t count;
};

static void read_branches(const struct branch_history *h, struct branch_list *list)
{
	size_t recorded = sample_branch_count(h->sample), count = recorded;
	if (h->max_branches && count > h->max_branches)
		count = h->max_branches;
	count = MIN(count, LIMIT_BRANCH_HISTORY);
	for (size_t i = 0; i < count; i++)
		list->items[i] = sample_branch_at(h->sample, h->is_oldest_first ? recorded - 1 - i : i);
	list->count = count;
}

/* Returns how many branches from i on repeat those from first on; 0 if they differ. The end of the list may cut the
 * repetition short. */
static size_t branch_history_repeated(const struct branch_list *list, size_t first, size_t i)
{
	size_t len = MIN(i - first, list->count - i);
	for (size_t k = 0; k < len; k++)
		if (list->items[first + k].from != list->items[i + k].from)
			return 0;
	return len;
}

/* Removes the iterations of loops except the first, as perf does: if the branches since the first occurrence of a
 * branch follow once more, that repetition is removed. The branch that moves into the gap is not examined itself. */
static void fold_loops(struct branch_list *list)
{
	bool begins[LIMIT_BRANCH_HISTORY] = {true};
	for (size_t i = 1; i < list->count; i++) {
		size_t first = 0;
		while (first < i && !(begins[first] && list->items[first].from == list->items[i].from))
			first++;
		size_t len = first < i ? branch_history_repeated(list, first, i) : 0;
		begins[i] = first == i;
		if (!len)
			continue;
		memmove(&list->items[i], &list->items[i + len], (list->count - i - len) * sizeof(*list->items));
		list->count -= len;
	}
}

static void branch_history_add_frame(struct resolver *r, uint32_t frame)
{
	if (!vec_push(&r->stack_scratch, frame))
		r->failed = true;
}

static void add_end(struct resolver *r, const struct branch_history *h, const struct sample_branch *branch,
	enum profile_branch_end end)
{
	uint64_t ip = end == BRANCH_END_TO ? branch->to : branch->from;
	uint32_t mark = profile_branch_pack(&(struct profile_branch){.end = end,
		.is_predicted = branch->is_predicted,
		.is_abort = branch->is_abort,
		.cycles = branch->cycles});
	uint32_t frame = resolver_raw_frame(r, &h->where, RESOLVE_ANY_MODE, 0, ip);
	branch_history_add_frame(r, resolver_marked_frame(r, frame, ip, mark));
}

/* Returns the index of the first frame of the chain that the branches do not show: it is not the sample's own address,
 * and no branch is the call that it returns from. */
static size_t first_caller(const struct branch_history *h, const struct branch_list *list)
{
	size_t first = h->chain.count && h->addresses[0].ip == h->sample->ip ? 1 : 0;
	for (size_t i = 0; i < list->count && first < h->chain.count; i++) {
		const struct sample_branch *branch = &list->items[h->is_oldest_first ? list->count - 1 - i : i];
		uint64_t to_return = h->addresses[first].ip;
		first += branch->from < to_return && to_return - branch->from <= LONGEST_CALL_BYTES;
	}
	return first;
}

uint32_t branch_history_stack(struct resolver *r, const struct branch_history *h)
{
	struct branch_list list;
	read_branches(h, &list);
	size_t caller = first_caller(h, &list);
	r->stack_scratch.len = 0;
	fold_loops(&list);
	for (size_t i = list.count; i-- > 0;) {
		const struct sample_branch *branch = &list.items[h->is_oldest_first ? i : list.count - 1 - i];
		enum profile_branch_end outer = h->is_oldest_first ? BRANCH_END_TO : BRANCH_END_FROM;
		enum profile_branch_end inner = h->is_oldest_first ? BRANCH_END_FROM : BRANCH_END_TO;
		add_end(r, h, branch, inner);
		add_end(r, h, branch, outer);
	}
	for (; caller < h->chain.count; caller++)
		branch_history_add_frame(r, h->chain.items[caller]);
	size_t count = r->stack_scratch.len;
	if (count == 0 || r->failed)
		return RESOLVE_NONE;
	const uint32_t *frames = r->stack_scratch.items;
	return resolver_stack(r, frames, count, list_table_hash(frames, count));
}

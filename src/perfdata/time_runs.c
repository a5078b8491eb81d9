/* SPDX-License-Identifier: Apache-2.0 */
#include "perfdata/time_runs.h"

#define DROP_ITEMS ((size_t)1 << 17) /* Number of items to take before their memory is dropped. */

void time_runs_init(struct time_runs *r)
{
	*r = (struct time_runs){0};
	spool_init(&r->items);
}

void time_runs_deinit(struct time_runs *r)
{
	spool_deinit(&r->items);
	vec_free(&r->runs);
}

/* Of two items with the same time, the one added earlier comes first. */
static bool time_runs_goes_first(const struct time_run *left, const struct time_run *right)
{
	return left->at->time_ns != right->at->time_ns ? left->at->time_ns < right->at->time_ns : left->at < right->at;
}

static void swap_runs(struct time_run *left, struct time_run *right)
{
	struct time_run kept = *left;
	*left = *right;
	*right = kept;
}

static void time_runs_sift_down(struct time_runs *r)
{
	struct time_run *runs = r->runs.items;
	for (size_t at = 0;;) {
		size_t first = at;
		for (size_t child = 2 * at + 1; child <= 2 * at + 2 && child < r->runs.len; child++)
			if (time_runs_goes_first(&runs[child], &runs[first]))
				first = child;
		if (first == at)
			return;
		swap_runs(&runs[at], &runs[first]);
		at = first;
	}
}

/* Appends the items to the run that they continue; false if there is none. So a recording in order of time is one
 * run. */
static bool time_runs_extend(struct time_runs *r, const struct time_waiting *begin, size_t count)
{
	for (size_t i = 0; i < r->runs.len; i++)
		if (r->runs.items[i].end == begin && begin[-1].time_ns <= begin->time_ns) {
			r->runs.items[i].end += count;
			return true;
		}
	return false;
}

bool time_runs_add(struct time_runs *r, const struct time_waiting *items, size_t count)
{
	size_t bytes = count * sizeof(*items); /* The items are in memory, so this does not overflow. */
	if (!vec_reserve(&r->runs, r->runs.len + 1))
		return false;
	const struct time_waiting *begin = (const void *)spool_reserve(&r->items, bytes);
	if (!begin || !spool_append(&r->items, items, bytes))
		return false;
	r->count += count;
	if (time_runs_extend(r, begin, count))
		return true;
	r->runs.items[r->runs.len++] = (struct time_run){begin, begin + count};
	size_t at = r->runs.len - 1;
	struct time_run *runs = r->runs.items;
	for (; at > 0 && time_runs_goes_first(&runs[at], &runs[(at - 1) / 2]); at = (at - 1) / 2)
		swap_runs(&runs[at], &runs[(at - 1) / 2]);
	return true;
}

struct time_waiting time_runs_take(struct time_runs *r)
{
	struct time_run *first = &r->runs.items[0];
	struct time_waiting taken = *first->at++;
	if (first->at == first->end)
		*first = r->runs.items[--r->runs.len];
	time_runs_sift_down(r);
	r->count--;
	if (r->runs.len == 0) {
		spool_deinit(&r->items); /* All items are taken, so their memory is freed. */
		r->taken = 0;
	} else if (++r->taken == DROP_ITEMS) {
		spool_drop(&r->items, spool_view(&r->items));
		r->taken = 0;
	}
	return taken;
}

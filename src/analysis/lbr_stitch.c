/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/lbr_stitch.h"

#include <stdlib.h>

void lbr_stitcher_deinit(struct lbr_stitcher *stitcher)
{
	for (size_t i = 0; i < stitcher->threads.len; i++) {
		vec_free(&stitcher->threads.items[i]->older);
		free(stitcher->threads.items[i]);
	}
	vec_free(&stitcher->threads);
	map_u64_deinit(&stitcher->by_thread);
}

static struct lbr_thread *lbr_stitch_find_thread(struct lbr_stitcher *stitcher, uint32_t tid)
{
	bool is_new;
	uint64_t *index = map_u64_at(&stitcher->by_thread, tid, &is_new);
	if (!index)
		return NULL;
	if (!is_new)
		return stitcher->threads.items[*index];
	struct lbr_thread *thread = calloc(1, sizeof(*thread));
	*index = stitcher->threads.len;
	if (!thread || !vec_push(&stitcher->threads, thread)) {
		free(thread);
		return NULL;
	}
	return thread;
}

static struct lbr_entry entry_at(const struct sample *sample, size_t index)
{
	const uint8_t *words = sample->branches.entries.data;
	size_t first = index * SAMPLE_BRANCH_WORDS;
	return (struct lbr_entry){sample_u64_at(words, first, sample->swap),
		sample_u64_at(words, first + 1, sample->swap), sample_u64_at(words, first + 2, sample->swap)};
}

static bool lbr_stitch_is_same(const struct lbr_entry *a, const struct lbr_entry *b)
{
	return a->from == b->from && a->to == b->to && a->flags == b->flags;
}

/* Returns the index of the entry of the thread's last sample that was in the LBR register of this sample's oldest
 * entry. */
static size_t entry_of_oldest(
	const struct lbr_stitcher *stitcher, const struct lbr_thread *last, const struct sample *sample, size_t count)
{
	uint64_t n = stitcher->register_count;
	uint64_t oldest = (sample->branches.hw_idx % n + n - (count - 1) % n) % n;
	return (size_t)((last->newest + n - oldest) % n);
}

/* If is_stitched is set, prepends the callers that follow the entry in the thread's last sample to its older callers.
 * Otherwise the stacks are not connected, and the older callers are dropped. */
static bool keep_older(struct lbr_thread *last, size_t entry, bool is_stitched)
{
	size_t more = is_stitched && entry + 1 < last->count ? last->count - entry - 1 : 0;
	if (!is_stitched) {
		last->older.len = 0;
		return true;
	}
	if (last->older.len + more > LIMIT_STITCHED)
		last->older.len = LIMIT_STITCHED - more;
	if (!vec_reserve(&last->older, last->older.len + more))
		return false;
	memmove(last->older.items + more, last->older.items, last->older.len * sizeof(*last->older.items));
	for (size_t i = 0; i < more; i++)
		last->older.items[i] = last->entries[entry + 1 + i].from;
	last->older.len += more;
	return true;
}

bool lbr_stitch(struct lbr_stitcher *stitcher, const struct sample *sample, struct lbr_older *older)
{
	size_t count = sample_branch_count(sample);
	*older = (struct lbr_older){NULL, 0};
	if (!sample->branches.has_hw_idx || sample->branches.hw_idx == UINT64_MAX || count == 0 ||
		count > LIMIT_BRANCH_HISTORY || stitcher->register_count == 0)
		return true;
	struct lbr_thread *last = lbr_stitch_find_thread(stitcher, sample->tid);
	if (!last)
		return false;
	size_t entry = entry_of_oldest(stitcher, last, sample, count);
	struct lbr_entry oldest = entry_at(sample, count - 1);
	bool is_stitched = entry < last->count && lbr_stitch_is_same(&last->entries[entry], &oldest);
	if (!keep_older(last, entry, is_stitched))
		return false;
	last->newest = sample->branches.hw_idx % stitcher->register_count;
	last->count = count;
	for (size_t i = 0; i < count; i++)
		last->entries[i] = entry_at(sample, i);
	*older = (struct lbr_older){last->older.items, last->older.len};
	return true;
}

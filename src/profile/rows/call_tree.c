/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/rows/call_tree.h"

#include <math.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/order.h"
#include "base/vec.h"

struct call_tree_range {
	uint32_t begin, end; /* Range of chains in the builder's work. */
	uint32_t depth; /* Number of frames of the chains that the nodes above have used. */
};

struct call_tree_bucket {
	uint32_t key, frame;
	uint32_t begin, end;
	uint64_t period;
};

enum tally_status call_tree_init(struct call_tree_builder *b, const struct flat_table *table, struct tally_error *err)
{
	struct call_tree_builder made = {.table = table};
	made.bucket_of_key = calloc(table->chain_key_count + 1, sizeof(*made.bucket_of_key));
	if (!made.bucket_of_key)
		return error_nomem(err);
	*b = made;
	return TALLY_OK;
}

void call_tree_deinit(struct call_tree_builder *b)
{
	free(b->nodes);
	free(b->frames);
	free(b->branches);
	free(b->work);
	free(b->scratch);
	free(b->ranges);
	free(b->buckets);
	free(b->bucket_of_key);
	*b = (struct call_tree_builder){0};
}

static bool reserve_work(struct call_tree_builder *b, size_t count)
{
	if (count <= b->work_cap)
		return true;
	struct flat_instance *work = realloc(b->work, count * sizeof(*work));
	if (work)
		b->work = work;
	struct flat_instance *scratch = realloc(b->scratch, count * sizeof(*scratch));
	if (scratch)
		b->scratch = scratch;
	if (!work || !scratch)
		return false;
	b->work_cap = count;
	return true;
}

static bool call_tree_add_node(struct call_tree_builder *b, uint32_t parent, const struct call_tree_range *range)
{
	size_t need = b->node_count + 1;
	if (need > b->node_cap && !vec_grow(&b->nodes, &b->node_cap, sizeof(*b->nodes), need))
		return false;
	if (need > b->range_cap && !vec_grow(&b->ranges, &b->range_cap, sizeof(*b->ranges), need))
		return false;
	b->nodes[b->node_count] = (struct call_tree_node){.parent = parent, .first_frame = (uint32_t)b->frame_count};
	b->ranges[b->node_count++] = *range;
	return true;
}

/* Sums the branches of the chains in the range, at the depth that they share. */
static bool call_tree_add_branches(struct call_tree_builder *b, const struct call_tree_range *range)
{
	size_t need = b->frame_count + 1;
	if (!b->table->options.with_branches)
		return true;
	if (need > b->branch_cap && !vec_grow(&b->branches, &b->branch_cap, sizeof(*b->branches), need))
		return false;
	struct flat_branches sums = {0};
	for (uint32_t i = range->begin; i < range->end; i++)
		flat_branches_add(b->table, &b->work[i], range->depth, &sums);
	b->branches[b->frame_count] = sums;
	return true;
}

static bool call_tree_add_frame(struct call_tree_builder *b, uint32_t frame)
{
	size_t need = b->frame_count + 1;
	if (need > b->frame_cap && !vec_grow(&b->frames, &b->frame_cap, sizeof(*b->frames), need))
		return false;
	b->frames[b->frame_count++] = frame;
	return true;
}

static uint32_t call_tree_frame_at(
	const struct call_tree_builder *b, const struct flat_instance *instance, uint32_t depth)
{
	return b->table->chains[instance->chain + depth];
}

/* Appends the frames that all chains of the range share from its depth on; stops where one ends or two differ. */
static bool take_common_frames(struct call_tree_builder *b, struct call_tree_range *range)
{
	const uint32_t *keys = b->table->chain_keys;
	for (;; range->depth++) {
		const struct flat_instance *first = &b->work[range->begin];
		if (first->len <= range->depth)
			return true;
		uint32_t frame = call_tree_frame_at(b, first, range->depth);
		for (uint32_t i = range->begin + 1; i < range->end; i++) {
			if (b->work[i].len <= range->depth ||
				keys[call_tree_frame_at(b, &b->work[i], range->depth)] != keys[frame])
				return true;
		}
		if (!call_tree_add_branches(b, range) || !call_tree_add_frame(b, frame))
			return false;
	}
}

/* Counts the chains that end at this depth as hits, and moves them to the front of the range, after begin. The others
 * keep their order, because the first of several merged frames is shown. */
static void call_tree_take_hits(struct call_tree_builder *b, struct call_tree_node *node, struct call_tree_range *range)
{
	const struct profile_sample *samples = b->table->profile->samples;
	uint32_t hits = range->begin;
	size_t left = 0;
	for (uint32_t i = range->begin; i < range->end; i++) {
		struct flat_instance instance = b->work[i];
		const struct profile_sample *sample = &samples[instance.sample];
		if (instance.len > range->depth) {
			node->children_period += sample->period;
			node->children_count += sample->count;
			b->scratch[left++] = instance;
			continue;
		}
		node->hit_period += sample->period;
		node->hit_count += sample->count;
		b->work[hits++] = instance;
	}
	if (hits > range->begin)
		memcpy(b->work + hits, b->scratch, left * sizeof(*b->work));
	range->begin = hits;
}

/* Groups the range by the frame at its depth; the buckets are in order of first appearance. */
static bool split_range(struct call_tree_builder *b, const struct call_tree_range *range, size_t *bucket_count)
{
	const struct flat_table *t = b->table;
	size_t count = 0;
	for (uint32_t i = range->begin; i < range->end; i++) {
		uint32_t frame = call_tree_frame_at(b, &b->work[i], range->depth);
		uint32_t key = t->chain_keys[frame];
		if (!b->bucket_of_key[key]) {
			if (count + 1 > b->bucket_cap &&
				!vec_grow(&b->buckets, &b->bucket_cap, sizeof(*b->buckets), count + 1))
				break;
			b->buckets[count++] = (struct call_tree_bucket){.key = key, .frame = frame};
			b->bucket_of_key[key] = (uint32_t)count;
		}
		struct call_tree_bucket *bucket = &b->buckets[b->bucket_of_key[key] - 1];
		bucket->end++;
		bucket->period += t->profile->samples[b->work[i].sample].period;
	}
	uint32_t at = range->begin;
	uint32_t counted = 0;
	for (size_t i = 0; i < count; i++) {
		uint32_t size = b->buckets[i].end;
		counted += size;
		b->buckets[i].begin = b->buckets[i].end = at;
		at += size;
	}
	bool is_complete = counted == range->end - range->begin;
	for (uint32_t i = range->begin; is_complete && i < range->end; i++) {
		uint32_t key = t->chain_keys[call_tree_frame_at(b, &b->work[i], range->depth)];
		b->scratch[b->buckets[b->bucket_of_key[key] - 1].end++] = b->work[i];
	}
	for (size_t i = 0; i < count; i++)
		b->bucket_of_key[b->buckets[i].key] = 0;
	if (!is_complete)
		return false;
	memcpy(b->work + range->begin, b->scratch + range->begin, (size_t)counted * sizeof(*b->work));
	*bucket_count = count;
	return true;
}

struct bucket_order {
	const struct call_tree_builder *builder;
	bool by_key;
};

static uint64_t chain_address(const struct flat_table *t, uint32_t frame)
{
	const struct profile_frame *f = &t->profile->frames[frame];
	if (f->function != PROFILE_NONE && !t->options.is_chain_by_address)
		return t->profile->functions[f->function].start;
	return f->raw_address ? f->raw_address : f->address;
}

/* Frames without a binary come last, those of the kernel before them, and of other binaries the later one comes first,
 * which is the order of DSOs in perf's memory. */
static int call_tree_compare_binaries(const struct profile *p, uint32_t a, uint32_t b)
{
	if (a == b)
		return 0;
	if (a == PROFILE_NONE || b == PROFILE_NONE)
		return a == PROFILE_NONE ? 1 : -1;
	if (p->binaries[a].is_kernel != p->binaries[b].is_kernel)
		return p->binaries[a].is_kernel ? 1 : -1;
	return a > b ? -1 : 1;
}

static int compare_buckets(const void *left, const void *right, void *data)
{
	const struct bucket_order *order = data;
	const struct flat_table *t = order->builder->table;
	const struct call_tree_bucket *a = left, *b = right;
	if (!order->by_key && a->period != b->period)
		return a->period > b->period ? -1 : 1;
	int binaries = call_tree_compare_binaries(
		t->profile, t->profile->frames[a->frame].binary, t->profile->frames[b->frame].binary);
	if (binaries)
		return binaries;
	uint64_t address_a = chain_address(t, a->frame), address_b = chain_address(t, b->frame);
	if (address_a != address_b)
		return address_a > address_b ? -1 : 1;
	return COMPARE(a->key, b->key);
}

/* Fills a node from its range and appends its children with ranges that are not split yet. */
static bool expand_node(struct call_tree_builder *b, uint32_t index, const struct call_tree_options *options)
{
	struct call_tree_range range = b->ranges[index];
	size_t bucket_count = 0;
	b->nodes[index].first_frame = (uint32_t)b->frame_count;
	if (index != 0 && !take_common_frames(b, &range))
		return false;
	struct call_tree_node *node = &b->nodes[index];
	node->frame_count = (uint32_t)b->frame_count - node->first_frame;
	call_tree_take_hits(b, node, &range);
	node->first_child = (uint32_t)b->node_count;
	if (range.begin == range.end)
		return true;
	uint64_t min_period = options->min_period;
	if (options->is_relative)
		min_period = (uint64_t)ceil((double)node->children_period * options->min_share);
	if (!split_range(b, &range, &bucket_count))
		return false;
	struct bucket_order order = {b, options->keeps_key_order};
	qsort_r(b->buckets, bucket_count, sizeof(*b->buckets), compare_buckets, &order);
	for (size_t i = 0; i < bucket_count; i++) {
		const struct call_tree_bucket *bucket = &b->buckets[i];
		struct call_tree_range child = {bucket->begin, bucket->end, range.depth};
		if (bucket->period < min_period)
			continue;
		if (!call_tree_add_node(b, index, &child))
			return false;
		b->nodes[index].child_count++;
	}
	return true;
}

enum tally_status call_tree_build(
	struct call_tree_builder *b, uint32_t row, const struct call_tree_options *options, struct tally_error *err)
{
	const struct flat_row *r = &b->table->rows[row];
	struct call_tree_range all = {0, r->instance_count, 0};
	b->node_count = b->frame_count = 0;
	if (!reserve_work(b, r->instance_count + (size_t)1) || !call_tree_add_node(b, PROFILE_NONE, &all))
		return error_nomem(err);
	memcpy(b->work, b->table->instances + r->first_instance, r->instance_count * sizeof(*b->work));
	for (size_t i = 0; i < b->node_count; i++) {
		if (!expand_node(b, (uint32_t)i, options))
			return error_nomem(err);
	}
	return TALLY_OK;
}

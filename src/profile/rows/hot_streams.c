/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/rows/hot_streams.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/order.h"
#include "base/vec.h"
#include "profile/rows/call_tree.h"

/* Percent of the total: lighter streams are ignored, as perf ignores call chains with a smaller share. */
#define LEAST_PERCENT 0.5

struct heavy_node {
	uint32_t node, number; /* number: position in a walk that visits children before their parents. */
	uint64_t period;
};

struct hot_streams_finding {
	struct call_tree_builder builder;
	struct heavy_node *nodes; /* Nodes of the current row. */
	size_t node_cap;
	struct hot_streams found;
	uint64_t least_period;
};

static uint32_t first_leaf(const struct call_tree_builder *b, uint32_t node)
{
	while (b->nodes[node].child_count)
		node = b->nodes[node].first_child;
	return node;
}

static int hot_streams_by_period(const void *left, const void *right)
{
	const struct heavy_node *a = left, *b = right;
	if (a->period != b->period)
		return a->period > b->period ? -1 : 1;
	return COMPARE(a->number, b->number);
}

/* Lists the nodes of the tree in which enough samples end, heaviest first. */
static size_t list_nodes(struct hot_streams_finding *f)
{
	const struct call_tree_builder *b = &f->builder;
	size_t count = 0;
	uint32_t number = 0;
	for (uint32_t node = first_leaf(b, 0); node != 0;) {
		const struct call_tree_node *n = &b->nodes[node];
		const struct call_tree_node *parent = &b->nodes[n->parent];
		if (n->hit_count && n->hit_period >= f->least_period)
			f->nodes[count++] = (struct heavy_node){node, number, n->hit_period};
		number++;
		bool is_last = node + 1 == parent->first_child + parent->child_count;
		node = is_last ? n->parent : first_leaf(b, node + 1);
	}
	if (count)
		qsort(f->nodes, count, sizeof(*f->nodes), hot_streams_by_period);
	return count;
}

/* Returns where to store the next stream: in a new item, or in that of the lightest stream; NULL if the period is not
 * greater than that of the lightest. */
static struct hot_stream *choose_place(struct hot_streams *found, uint64_t period)
{
	if (found->count < HOT_STREAMS_MOST)
		return &found->items[found->count++];
	struct hot_stream *lightest = &found->items[0];
	for (size_t i = 1; i < found->count; i++)
		if (found->items[i].period < lightest->period)
			lightest = &found->items[i];
	return period > lightest->period ? lightest : NULL;
}

static bool keep_node(struct hot_streams_finding *f, const struct heavy_node *heavy)
{
	const struct call_tree_builder *b = &f->builder;
	const struct call_tree_node *node = &b->nodes[heavy->node];
	struct hot_stream *to = choose_place(&f->found, heavy->period);
	if (!to)
		return true;
	uint32_t *frames = realloc(to->frames, (node->frame_count + (size_t)1) * sizeof(*frames));
	if (!frames)
		return false;
	memcpy(frames, b->frames + node->first_frame, node->frame_count * sizeof(*frames));
	*to = (struct hot_stream){.period = heavy->period, .frames = frames, .frame_count = node->frame_count};
	for (uint32_t i = 0; i < node->frame_count; i++) {
		const struct flat_branches *branches = &b->branches[node->first_frame + i];
		to->cycles += branches->sources ? branches->cycles / branches->sources : 0;
	}
	return true;
}

static enum tally_status find_in_row(struct hot_streams_finding *f, uint32_t row, struct tally_error *err)
{
	struct call_tree_options options = {.keeps_key_order = true};
	enum tally_status status = call_tree_build(&f->builder, row, &options, err);
	if (status != TALLY_OK)
		return status;
	if (f->builder.node_count > f->node_cap &&
		!vec_grow(&f->nodes, &f->node_cap, sizeof(*f->nodes), f->builder.node_count))
		return error_nomem(err);
	size_t count = list_nodes(f);
	for (size_t i = 0; i < count; i++) {
		f->found.total += f->nodes[i].period;
		if (!keep_node(f, &f->nodes[i]))
			return error_nomem(err);
	}
	return TALLY_OK;
}

enum tally_status hot_streams_find(const struct flat_table *table, struct hot_streams *streams, struct tally_error *err)
{
	struct hot_streams_finding f = {.found.profile = table->profile,
		.least_period = (uint64_t)((double)table->totals[0].period * LEAST_PERCENT / 100)};
	enum tally_status status = call_tree_init(&f.builder, table, err);
	for (size_t i = 0; status == TALLY_OK && i < table->shown_count; i++)
		status = find_in_row(&f, table->order[i], err);
	call_tree_deinit(&f.builder);
	free(f.nodes);
	if (status == TALLY_OK)
		*streams = f.found;
	else
		hot_streams_deinit(&f.found);
	return status;
}

void hot_streams_deinit(struct hot_streams *streams)
{
	for (size_t i = 0; i < streams->count; i++)
		free(streams->items[i].frames);
	*streams = (struct hot_streams){0};
}

static bool frames_are_alike(const struct profile *p, uint32_t id, const struct profile *other_p, uint32_t other_id)
{
	const struct profile_frame *frame = &p->frames[id], *other = &other_p->frames[other_id];
	bool has_line = profile_frame_has_line(p, frame);
	if (!has_line || !profile_frame_has_line(other_p, other))
		return has_line == profile_frame_has_line(other_p, other);
	return str_equal(profile_string(p, frame->own_line.line), profile_string(other_p, other->own_line.line));
}

size_t hot_streams_match(
	const struct hot_streams *streams, const struct hot_streams *of, const struct hot_stream *stream)
{
	for (size_t i = 0; i < streams->count; i++) {
		const struct hot_stream *item = &streams->items[i];
		size_t same = 0;
		while (item->frame_count == stream->frame_count && same < item->frame_count &&
			frames_are_alike(streams->profile, item->frames[same], of->profile, stream->frames[same]))
			same++;
		if (item->frame_count == stream->frame_count && same == item->frame_count)
			return i;
	}
	return streams->count;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/stack_nodes.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/thread_pool.h"
#include "base/vec.h"

#define FEW   4096 /* Fewer stacks do not justify another worker. */
#define PARTS 64 /* Number of parts that workers share, if there are enough stacks. */

struct path { /* A stack, followed from its outermost frame inwards. */
	const uint32_t *frames; /* Innermost frame first. */
	uint32_t count;
	uint32_t index; /* Index in stacks. */
};

struct branch { /* The point where a stack leaves the stacks before it. */
	uint32_t depth; /* Number of frames shared with from; for the rest the stack has its own nodes. */
	uint32_t from; /* Index of the first stack with these frames. */
	uint32_t first; /* Number of the first of its own nodes. */
};

struct stack_nodes_range { /* Paths with equal outermost frames, in the order of their stacks. */
	uint32_t begin, end;
	uint32_t depth; /* Number of the equal frames. */
};

struct group { /* Paths of a range with the same next frame. */
	uint32_t slot;
	uint32_t begin, end;
};

struct grouping { /* State of one worker. */
	VEC(struct stack_nodes_range) ranges;
	VEC(struct group) groups;
	/* By next frame: its group + 1; the last item is for paths that end. All items are 0 between two ranges. */
	uint32_t *group_of;
	bool is_out_of_memory;
};

struct stack_nodes_merge {
	const struct profile *profile;
	const uint32_t *names;
	uint32_t *ids; /* Indexed by stack. */
	uint32_t *stacks; /* IDs of the stacks that are not left out. */
	struct path *paths, *room;
	struct branch *branches;
	size_t count;
	VEC(struct stack_nodes_range) parts;
	struct grouping *workers;
	struct stack_node *nodes;
};

static uint32_t slot_at(const struct stack_nodes_merge *m, const struct path *path, uint32_t depth)
{
	return depth < path->count ? path->frames[path->count - 1 - depth] : (uint32_t)m->profile->frame_count;
}

static bool add_to_group(struct grouping *g, uint32_t slot)
{
	if (!g->group_of[slot]) {
		if (!vec_push(&g->groups, (struct group){.slot = slot}))
			return false;
		g->group_of[slot] = (uint32_t)g->groups.len;
	}
	g->groups.items[g->group_of[slot] - 1].end++;
	return true;
}

/* Counts the paths of the range by their next frame. Returns false if out of memory. */
static bool count_groups(const struct stack_nodes_merge *m, struct grouping *g, const struct stack_nodes_range *range)
{
	bool is_done = true;
	g->groups.len = 0;
	for (uint32_t i = range->begin; i < range->end && is_done; i++)
		is_done = add_to_group(g, slot_at(m, &m->paths[i], range->depth));
	uint32_t at = range->begin;
	for (size_t i = 0; i < g->groups.len; i++) {
		struct group *group = &g->groups.items[i];
		uint32_t size = group->end;
		group->begin = group->end = at;
		at += size;
	}
	return is_done;
}

/* Moves the paths of each group together without changing their order. */
static void move_paths(const struct stack_nodes_merge *m, struct grouping *g, const struct stack_nodes_range *range)
{
	for (uint32_t i = range->begin; i < range->end; i++) {
		uint32_t slot = slot_at(m, &m->paths[i], range->depth);
		m->room[g->groups.items[g->group_of[slot] - 1].end++] = m->paths[i];
	}
	memcpy(m->paths + range->begin, m->room + range->begin, (range->end - range->begin) * sizeof(*m->paths));
}

/* The first group continues the range's first path; the first path of each other group leaves it here. */
static void stack_nodes_take_groups(
	const struct stack_nodes_merge *m, struct grouping *g, const struct stack_nodes_range *range)
{
	uint32_t head = m->paths[range->begin].index;
	for (size_t i = 0; i < g->groups.len && !g->is_out_of_memory; i++) {
		const struct group *group = &g->groups.items[i];
		struct branch *branch = &m->branches[m->paths[group->begin].index];
		if (i > 0)
			*branch = (struct branch){.depth = range->depth, .from = head};
		if (group->end - group->begin > 1 &&
			!vec_push(&g->ranges, ((struct stack_nodes_range){group->begin, group->end, range->depth + 1})))
			g->is_out_of_memory = true;
	}
}

static void stack_nodes_split(const struct stack_nodes_merge *m, struct grouping *g, struct stack_nodes_range range)
{
	if (range.end - range.begin == 2) {
		const struct path *head = &m->paths[range.begin], *other = head + 1;
		while (range.depth < head->count && range.depth < other->count &&
			slot_at(m, head, range.depth) == slot_at(m, other, range.depth))
			range.depth++;
		m->branches[other->index] = (struct branch){.depth = range.depth, .from = head->index};
		return;
	}
	for (bool is_split = false; !is_split && !g->is_out_of_memory; range.depth++) {
		g->is_out_of_memory = !count_groups(m, g, &range);
		is_split = g->groups.len > 1;
		if (is_split && !g->is_out_of_memory) {
			move_paths(m, g, &range);
			stack_nodes_take_groups(m, g, &range);
		}
		for (size_t i = 0; i < g->groups.len; i++)
			g->group_of[g->groups.items[i].slot] = 0;
	}
}

static bool grouping_init(struct grouping *g, const struct stack_nodes_merge *m)
{
	if (!g->group_of)
		g->group_of = calloc(m->profile->frame_count + 1, sizeof(*g->group_of));
	return g->group_of != NULL;
}

static void split_part(void *context, size_t index, unsigned worker)
{
	const struct stack_nodes_merge *m = context;
	struct grouping *g = &m->workers[worker];
	if (!grouping_init(g, m) || !vec_push(&g->ranges, m->parts.items[index]))
		g->is_out_of_memory = true;
	while (g->ranges.len > 0 && !g->is_out_of_memory)
		stack_nodes_split(m, g, g->ranges.items[--g->ranges.len]);
}

/* Splits large ranges until there are enough parts for parallel work. */
static bool find_parts(struct stack_nodes_merge *m)
{
	struct grouping *g = &m->workers[0];
	uint32_t large = (uint32_t)(m->count / PARTS);
	bool is_done =
		grouping_init(g, m) && vec_push(&g->ranges, ((struct stack_nodes_range){0, (uint32_t)m->count, 0}));
	while (is_done && g->ranges.len > 0) {
		struct stack_nodes_range range = g->ranges.items[--g->ranges.len];
		if (range.end - range.begin <= (MAX(large, FEW)))
			is_done = vec_push(&m->parts, range);
		else
			stack_nodes_split(m, g, range);
		is_done = is_done && !g->is_out_of_memory;
	}
	return is_done;
}

static bool find_branches(struct stack_nodes_merge *m)
{
	unsigned workers = thread_pool_workers(m->count / FEW + 1, 0);
	m->workers = calloc(workers, sizeof(*m->workers));
	bool is_done = m->workers && (m->count < 2 || find_parts(m));
	if (is_done)
		thread_pool_for(m->parts.len, workers, split_part, m);
	for (unsigned i = 0; m->workers && i < workers; i++) {
		is_done = is_done && !m->workers[i].is_out_of_memory;
		vec_free(&m->workers[i].ranges);
		vec_free(&m->workers[i].groups);
		free(m->workers[i].group_of);
	}
	free(m->workers);
	vec_free(&m->parts);
	return is_done;
}

static bool take_stacks(struct stack_nodes_merge *m)
{
	size_t count = list_table_len(&m->profile->stacks);
	m->stacks = malloc((count + 1) * sizeof(*m->stacks));
	m->paths = malloc((count + 1) * sizeof(*m->paths));
	m->room = malloc((count + 1) * sizeof(*m->room));
	m->branches = calloc(count + 1, sizeof(*m->branches));
	if (!m->stacks || !m->paths || !m->room || !m->branches)
		return false;
	for (uint32_t i = 0; i < count; i++) {
		struct list stack = profile_stack(m->profile, i);
		if (m->ids[i] == PROFILE_NONE)
			continue;
		m->paths[m->count] = (struct path){stack.items, stack.count, (uint32_t)m->count};
		m->stacks[m->count++] = i;
	}
	return true;
}

/* The nodes of each stack's own are adjacent, in the order of the stacks. Returns false if there are too many. */
static bool number_nodes(struct stack_nodes_merge *m, size_t *len)
{
	*len = 0;
	for (size_t i = 0; i < m->count; i++) {
		m->branches[i].first = (uint32_t)*len;
		*len += profile_stack(m->profile, m->stacks[i]).count - m->branches[i].depth;
		if (*len >= PROFILE_NONE)
			return false;
	}
	return true;
}

static void fill_stack(const struct stack_nodes_merge *m, uint32_t index)
{
	struct list stack = profile_stack(m->profile, m->stacks[index]);
	const struct branch *branch = &m->branches[index];
	uint32_t parent = PROFILE_NONE;
	if (branch->depth > 0) {
		/* The first node of its own is below a node of the stack that it leaves. */
		const struct branch *from = &m->branches[branch->from];
		parent = from->first + (branch->depth - 1 - from->depth);
	}
	for (uint32_t depth = branch->depth; depth < stack.count; depth++) {
		uint32_t node = branch->first + (depth - branch->depth);
		m->nodes[node] = (struct stack_node){parent, m->names[stack.items[stack.count - 1 - depth]]};
		parent = node;
	}
	m->ids[m->stacks[index]] = parent;
}

static void fill_part(void *context, size_t part, unsigned worker)
{
	const struct stack_nodes_merge *m = context;
	size_t each = m->count / PARTS + 1, begin = part * each;
	(void)worker;
	for (size_t i = begin; i < begin + each && i < m->count; i++)
		fill_stack(m, (uint32_t)i);
}

bool stack_nodes_init(struct stack_nodes *nodes, const struct profile *profile, const uint32_t *names, uint32_t *ids)
{
	struct stack_nodes_merge m = {.profile = profile, .names = names, .ids = ids};
	size_t len = 0;
	bool is_done = take_stacks(&m) && find_branches(&m) && number_nodes(&m, &len);
	free(m.paths);
	free(m.room);
	m.nodes = is_done ? malloc((len + 1) * sizeof(*m.nodes)) : NULL;
	if (m.nodes)
		thread_pool_for(PARTS, thread_pool_workers(m.count / FEW + 1, 0), fill_part, &m);
	if (m.nodes)
		*nodes = (struct stack_nodes){m.nodes, len, len + 1};
	free(m.stacks);
	free(m.branches);
	return m.nodes != NULL;
}

bool stack_nodes_add(struct stack_nodes *nodes, struct stack_node node)
{
	return nodes->len < PROFILE_NONE - 1 && vec_push(nodes, node);
}

void stack_nodes_deinit(struct stack_nodes *nodes)
{
	vec_free(nodes);
}

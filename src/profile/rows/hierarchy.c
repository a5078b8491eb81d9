/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/rows/hierarchy.h"

#include <stdlib.h>

#include "base/error.h"
#include "base/order.h"
#include "base/vec.h"

struct hierarchy_builder {
	struct hierarchy *tree;
	const struct hierarchy_options *options;
	struct flat_row_order *order;
	uint32_t *rows; /* Rows of the table; those of a node are adjacent. */
	uint32_t *begins, *ends; /* By node: its range of rows. */
	size_t begin_cap, end_cap;
};

/* Compares two rows by the keys of one level. */
static int compare_level(const struct hierarchy_builder *b, uint32_t level, uint32_t left, uint32_t right)
{
	const struct hierarchy_options *o = b->options;
	for (size_t i = 0; i < o->key_count; i++) {
		if (o->levels[i] != level)
			continue;
		int order = flat_row_order_compare(b->order, o->keys[i], left, right);
		if (order)
			return order;
	}
	return 0;
}

static int hierarchy_compare_rows(const void *left, const void *right, void *data)
{
	const struct hierarchy_builder *b = data;
	uint32_t a = *(const uint32_t *)left, c = *(const uint32_t *)right;
	for (uint32_t level = 0; level < b->tree->level_count; level++) {
		int order = compare_level(b, level, a, c);
		if (order)
			return order;
	}
	return COMPARE(a, c);
}

static bool hierarchy_add_node(struct hierarchy_builder *b, uint32_t level, uint32_t begin, uint32_t end)
{
	struct hierarchy *h = b->tree;
	size_t words = flat_row_words(h->table);
	size_t need = h->node_count + 1;
	if ((need > h->node_cap && !vec_grow(&h->nodes, &h->node_cap, sizeof(*h->nodes), need)) ||
		(need > b->begin_cap && !vec_grow(&b->begins, &b->begin_cap, sizeof(*b->begins), need)) ||
		(need > b->end_cap && !vec_grow(&b->ends, &b->end_cap, sizeof(*b->ends), need)) ||
		(need * words > h->stat_cap && !vec_grow(&h->stats, &h->stat_cap, sizeof(*h->stats), need * words)))
		return false;
	uint64_t *sums = &h->stats[h->node_count * words];
	memset(sums, 0, words * sizeof(*sums));
	for (uint32_t i = begin; i < end; i++)
		flat_stats_add(h->table, sums, h->table->stats + b->rows[i] * words);
	b->begins[h->node_count] = begin;
	b->ends[h->node_count] = end;
	h->nodes[h->node_count++] = (struct hierarchy_node){.row = b->rows[begin], .level = level};
	return true;
}

static bool is_of_level(const struct hierarchy_options *o, enum profile_key key, uint32_t level)
{
	for (size_t i = 0; i < o->key_count; i++)
		if (o->keys[i] == key)
			return o->levels[i] == level;
	return false;
}

/* Values after a key of the nodes' own level do not count: that key distinguishes all of these nodes, and their rows
 * are sorted by it. */
static int compare_nodes(const void *left, const void *right, void *data)
{
	const struct hierarchy_builder *b = data;
	const struct hierarchy *h = b->tree;
	const struct hierarchy_options *o = b->options;
	uint32_t a = *(const uint32_t *)left, c = *(const uint32_t *)right;
	for (size_t i = 0; i < o->order_count; i++) {
		if (!profile_key_get(o->order[i])->is_value) {
			if (is_of_level(o, o->order[i], h->nodes[a].level))
				break;
			continue;
		}
		int order = flat_stats_compare(h->table, hierarchy_stats(h, a), hierarchy_stats(h, c), o->order[i]);
		if (order)
			return order;
	}
	return COMPARE(b->begins[a], b->begins[c]);
}

/* Sorts the nodes from first on; nothing refers to their indexes yet. */
static bool sort_nodes(struct hierarchy_builder *b, uint32_t first)
{
	struct hierarchy *h = b->tree;
	size_t words = flat_row_words(h->table);
	size_t count = h->node_count - first;
	uint32_t *order = malloc((count + 1) * sizeof(*order));
	struct hierarchy_node *nodes = malloc((count + 1) * sizeof(*nodes));
	uint64_t *stats = malloc((count + 1) * words * sizeof(*stats));
	uint32_t *begins = malloc((count + 1) * sizeof(*begins)), *ends = malloc((count + 1) * sizeof(*ends));
	bool is_done = order && nodes && stats && begins && ends;
	for (size_t i = 0; is_done && i < count; i++)
		order[i] = first + (uint32_t)i;
	if (is_done)
		qsort_r(order, count, sizeof(*order), compare_nodes, b);
	for (size_t i = 0; is_done && i < count; i++) {
		nodes[i] = h->nodes[order[i]];
		memcpy(&stats[i * words], &h->stats[order[i] * words], words * sizeof(*stats));
		begins[i] = b->begins[order[i]];
		ends[i] = b->ends[order[i]];
	}
	if (is_done) {
		memcpy(h->nodes + first, nodes, count * sizeof(*nodes));
		memcpy(h->stats + first * words, stats, count * words * sizeof(*stats));
		memcpy(b->begins + first, begins, count * sizeof(*begins));
		memcpy(b->ends + first, ends, count * sizeof(*ends));
	}
	free(order);
	free(nodes);
	free(stats);
	free(begins);
	free(ends);
	return is_done;
}

/* Creates the nodes of a level from rows that are equal in all levels before it; at the last level each row is a
 * node. */
static bool hierarchy_split(struct hierarchy_builder *b, uint32_t level, uint32_t begin, uint32_t end)
{
	struct hierarchy *h = b->tree;
	uint32_t first = (uint32_t)h->node_count;
	bool is_last = level + 1 == h->level_count;
	for (uint32_t from = begin, i = begin + 1; from < end; i++) {
		if (i < end && !is_last && compare_level(b, level, b->rows[from], b->rows[i]) == 0)
			continue;
		if (!hierarchy_add_node(b, level, from, i))
			return false;
		from = i;
	}
	return h->node_count - first < 2 || sort_nodes(b, first);
}

static bool hierarchy_build(struct hierarchy_builder *b)
{
	struct hierarchy *h = b->tree;
	const struct flat_table *t = h->table;
	b->rows = malloc((t->shown_count + 1) * sizeof(*b->rows));
	if (!b->rows)
		return false;
	memcpy(b->rows, t->order, t->shown_count * sizeof(*b->rows));
	qsort_r(b->rows, t->shown_count, sizeof(*b->rows), hierarchy_compare_rows, b);
	if (!hierarchy_split(b, 0, 0, (uint32_t)t->shown_count))
		return false;
	h->root_count = (uint32_t)h->node_count;
	for (uint32_t i = 0; i < h->node_count; i++) {
		uint32_t level = h->nodes[i].level + 1, first = (uint32_t)h->node_count;
		if (level == h->level_count)
			continue;
		if (!hierarchy_split(b, level, b->begins[i], b->ends[i]))
			return false;
		h->nodes[i].first_child = first;
		h->nodes[i].child_count = (uint32_t)h->node_count - first;
	}
	return true;
}

enum tally_status hierarchy_init(struct hierarchy *hierarchy, const struct flat_table *table,
	const struct hierarchy_options *options, struct tally_error *err)
{
	struct hierarchy made = {.table = table};
	struct hierarchy_builder b = {.tree = &made, .options = options};
	if (options->key_count == 0)
		return error_set(err, TALLY_INVALID, "a hierarchy needs a sort key");
	made.level_count = options->levels[options->key_count - 1] + 1u;
	enum tally_status status = flat_row_order_create(table, &b.order, err);
	if (status != TALLY_OK)
		return status;
	bool is_built = hierarchy_build(&b);
	flat_row_order_destroy(b.order);
	free(b.rows);
	free(b.begins);
	free(b.ends);
	if (!is_built) {
		hierarchy_deinit(&made);
		return error_nomem(err);
	}
	*hierarchy = made;
	return TALLY_OK;
}

void hierarchy_deinit(struct hierarchy *hierarchy)
{
	free(hierarchy->nodes);
	free(hierarchy->stats);
	*hierarchy = (struct hierarchy){0};
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "view/tui/tree_memory.h"

#include <stdlib.h>
#include <string.h>

/* Makes the key of a node's path: the path of its parent, its own names, and the start of its function. */
static void put_way(const struct flame_tree *tree, const uint32_t *ways, uint32_t node, struct text *key)
{
	const struct flame_label *label = &tree->labels[tree->nodes[node].label];
	uint32_t parent = tree->nodes[node].parent;
	uint32_t above = parent == PROFILE_NONE ? INTERN_NONE : ways[parent];
	text_clear(key);
	text_bytes(key, (const char *)&above, sizeof(above));
	text_bytes(key, label->name.data, label->name.len);
	text_char(key, 0);
	text_bytes(key, label->object.data, label->object.len);
	text_char(key, 0);
	if (label->function != PROFILE_NONE) /* The address distinguishes functions with one name. */
		text_bytes(key, (const char *)&label->address, sizeof(label->address));
}

void tree_memory_note(
	struct tree_memory *m, const struct flame_tree *tree, const bool *is_open, uint32_t cursor, uint32_t zoom)
{
	uint32_t *ways = calloc(tree->node_count + 1, sizeof(*ways));
	struct text key = {0};
	*m = (struct tree_memory){.cursor = INTERN_NONE, .zoom = INTERN_NONE};
	intern_init(&m->ways);
	m->is_open = calloc(tree->node_count + 1, sizeof(*m->is_open));
	m->failed = !ways || !m->is_open;
	for (uint32_t i = 0; !m->failed && i < tree->node_count; i++) {
		put_way(tree, ways, i, &key);
		m->failed = key.failed || !intern_add(&m->ways, key.data, key.len, &ways[i]);
		if (!m->failed && is_open && is_open[i])
			m->is_open[ways[i]] = true;
	}
	if (!m->failed && cursor != PROFILE_NONE)
		m->cursor = ways[cursor];
	if (!m->failed && zoom != PROFILE_NONE)
		m->zoom = ways[zoom];
	text_deinit(&key);
	free(ways);
}

bool tree_memory_find(
	const struct tree_memory *m, const struct flame_tree *tree, bool *is_open, uint32_t *cursor, uint32_t *zoom)
{
	uint32_t *ways = calloc(tree->node_count + 1, sizeof(*ways));
	struct text key = {0};
	bool ok = ways && !m->failed;
	*cursor = *zoom = PROFILE_NONE;
	for (uint32_t i = 0; ok && i < tree->node_count; i++) {
		uint32_t parent = tree->nodes[i].parent;
		ways[i] = INTERN_NONE;
		if (parent != PROFILE_NONE && ways[parent] == INTERN_NONE)
			continue; /* A path below a new node is new as well. */
		put_way(tree, ways, i, &key);
		ok = !key.failed;
		if (ok)
			ways[i] = intern_find(&m->ways, key.data, key.len);
		if (!ok || ways[i] == INTERN_NONE)
			continue;
		if (is_open)
			is_open[i] = m->is_open[ways[i]];
		if (ways[i] == m->cursor)
			*cursor = i;
		if (ways[i] == m->zoom)
			*zoom = i;
	}
	text_deinit(&key);
	free(ways);
	return ok;
}

void tree_memory_deinit(struct tree_memory *m)
{
	intern_deinit(&m->ways);
	free(m->is_open);
	*m = (struct tree_memory){0};
}

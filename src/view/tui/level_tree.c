/* SPDX-License-Identifier: Apache-2.0 */
#include "view/tui/level_tree.h"

#include <stdlib.h>

#include "base/error.h"
#include "view/text/report_cells.h"

struct level_tree_making {
	struct report_layout layout;
	const struct hierarchy *from;
	struct flame_tree *tree;
	struct text name;
};

/* Returns the only key of a level; PROFILE_KEY_COUNT if there are several. */
static enum profile_key only_key(const struct report_layout *l, uint32_t level)
{
	enum profile_key only = PROFILE_KEY_COUNT;
	for (size_t i = 0; i < l->count; i++) {
		if (!report_column_is_of_level(l, i, level))
			continue;
		if (only != PROFILE_KEY_COUNT)
			return PROFILE_KEY_COUNT;
		only = l->columns[i];
	}
	return only;
}

static void name_node(struct level_tree_making *m, const struct hierarchy_node *node)
{
	const struct report_layout *l = &m->layout;
	text_clear(&m->name);
	for (size_t i = 0; i < l->count; i++) {
		if (!report_column_is_of_level(l, i, node->level))
			continue;
		if (m->name.len)
			text_str(&m->name, "  ");
		report_key_cell(l, &m->name, i, &m->from->table->rows[node->row]);
		while (m->name.len && m->name.data[m->name.len - 1] == ' ')
			m->name.len--;
	}
}

/* A function is labelled by its name, as in other trees, so that its code can be opened. */
static bool label_node(struct level_tree_making *m, const struct hierarchy_node *node, struct flame_label *label)
{
	const struct profile *p = m->layout.profile;
	const struct profile_frame *frame = &p->frames[m->from->table->rows[node->row].frame];
	bool is_function = only_key(&m->layout, node->level) == KEY_SYMBOL && frame->function != PROFILE_NONE;
	uint32_t id;
	*label = (struct flame_label){.kind = FLAME_GROUP, .function = PROFILE_NONE};
	if (is_function) {
		bool has_binary = frame->binary != PROFILE_NONE;
		label->kind = has_binary && p->binaries[frame->binary].is_kernel ? FLAME_KERNEL : FLAME_USER;
		label->name = profile_string(p, p->functions[frame->function].name);
		label->function = frame->function;
		label->address = p->functions[frame->function].start;
		label->object = has_binary ? profile_string(p, p->binaries[frame->binary].name) : (struct tally_str){0};
		return true;
	}
	name_node(m, node);
	struct tally_str name = str_trim((struct tally_str){m->name.data, m->name.len});
	if (m->name.failed || !intern_add(&m->tree->names, name.data, name.len, &id))
		return false;
	label->name = intern_get(&m->tree->names, id);
	return true;
}

/* The recursion is as deep as there are levels, which are few. */
static bool level_tree_add_nodes(struct level_tree_making *m, uint32_t first, uint32_t count, uint32_t parent)
{
	struct flame_tree *tree = m->tree;
	for (uint32_t i = first; i < first + count; i++) {
		const struct hierarchy_node *node = &m->from->nodes[i];
		const struct flat_stat *stats = hierarchy_stats(m->from, i);
		uint32_t at = (uint32_t)tree->node_count++;
		tree->nodes[at] = (struct flame_node){.label = at,
			.parent = parent,
			.depth = node->level,
			.self = node->child_count ? 0 : stats->period,
			.total = stats->period};
		tree->sample_count += node->child_count ? 0 : stats->count;
		m->layout.node = stats;
		if (!label_node(m, node, &tree->labels[at]) ||
			!level_tree_add_nodes(m, node->first_child, node->child_count, at))
			return false;
	}
	return true;
}

enum tally_status level_tree_init(struct flame_tree *tree, const struct hierarchy *h,
	const struct report_text_options *options, struct tally_error *err)
{
	struct level_tree_making m = {.layout = {.table = h->table, .options = options, .profile = h->table->profile},
		.from = h,
		.tree = tree};
	*tree = (struct flame_tree){.nodes = calloc(h->node_count + 1, sizeof(*tree->nodes)),
		.labels = calloc(h->node_count + 1, sizeof(*tree->labels))};
	intern_init(&tree->names);
	report_layout_fit(&m.layout);
	bool is_made = tree->nodes && tree->labels && level_tree_add_nodes(&m, 0, h->root_count, PROFILE_NONE);
	tree->label_count = tree->node_count;
	tree->total = report_member_total(&m.layout, 0);
	text_deinit(&m.name);
	if (is_made)
		return TALLY_OK;
	flame_tree_deinit(tree);
	return error_nomem(err);
}

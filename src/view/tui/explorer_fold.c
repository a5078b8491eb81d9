/* SPDX-License-Identifier: Apache-2.0 */
#include "view/tui/explorer_fold.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"

void explorer_fold_deinit(struct explorer_fold *fold)
{
	free(fold->nodes);
	free(fold->frames);
	free(fold->lines);
	*fold = (struct explorer_fold){0};
}

/* Lists the open nodes, each before the nodes below it. */
static void explorer_fold_make_lines(struct explorer_fold *fold)
{
	uint32_t i = 0;
	fold->line_count = 0;
	for (;;) {
		const struct fold_node *node = &fold->nodes[i];
		for (uint32_t f = 0; f < node->frame_count; f++)
			fold->lines[fold->line_count++] = (struct fold_line){i, f};
		if (node->is_open && node->child_count) {
			i = node->first_child;
			continue;
		}
		while (i != 0) {
			const struct fold_node *parent = &fold->nodes[fold->nodes[i].parent];
			if (i + 1 < parent->first_child + parent->child_count)
				break;
			i = fold->nodes[i].parent;
		}
		if (i == 0)
			return;
		i++;
	}
}

static void place_node(struct explorer_fold *fold, const struct call_tree_builder *tree, uint32_t i,
	const struct fold_options *options)
{
	const struct call_tree_node *from = &tree->nodes[i];
	struct fold_node *node = &fold->nodes[i];
	*node = (struct fold_node){.parent = from->parent,
		.first_child = from->first_child,
		.child_count = from->child_count,
		.first_frame = from->first_frame,
		.frame_count = from->frame_count,
		.period = call_tree_node_period(from),
		.count = call_tree_node_count(from),
		.total = options->total,
		.is_open = i == 0 || options->is_open};
	if (i == 0)
		return;
	const struct fold_node *parent = &fold->nodes[from->parent];
	uint64_t above = from->parent ? parent->period : options->row_period;
	bool is_fractal = options->chains->style == CHAIN_FRACTAL;
	node->depth = from->parent ? parent->depth + 1 + explorer_fold_is_indented(parent) : 0;
	node->has_value = parent->child_count > 1 || node->period != above;
	if (is_fractal)
		node->total = from->parent ? tree->nodes[from->parent].children_period : options->row_period;
}

enum tally_status explorer_fold_init(struct explorer_fold *fold, struct call_tree_builder *builder, uint32_t row,
	const struct fold_options *options, struct tally_error *err)
{
	double share = options->chains->min_percent / 100;
	struct call_tree_options build = {.min_period = (uint64_t)((double)options->total * share),
		.min_share = share,
		.is_relative = options->chains->style == CHAIN_FRACTAL};
	enum tally_status status = call_tree_build(builder, row, &build, err);
	if (status != TALLY_OK)
		return status;
	struct explorer_fold made = {
		.node_count = (uint32_t)builder->node_count, .frame_count = builder->frame_count, .is_open = true};
	size_t lines = 0;
	for (size_t i = 0; i < builder->node_count; i++)
		lines += builder->nodes[i].frame_count;
	made.nodes = calloc(builder->node_count, sizeof(*made.nodes));
	made.frames = calloc(builder->frame_count + 1, sizeof(*made.frames));
	made.lines = calloc(lines + 1, sizeof(*made.lines));
	if (!made.nodes || !made.frames || !made.lines) {
		explorer_fold_deinit(&made);
		return error_nomem(err);
	}
	if (builder->frame_count)
		memcpy(made.frames, builder->frames, builder->frame_count * sizeof(*made.frames));
	/* Parents precede their children. */
	for (uint32_t i = 0; i < made.node_count; i++)
		place_node(&made, builder, i, options);
	explorer_fold_make_lines(&made);
	*fold = made;
	return TALLY_OK;
}

bool explorer_fold_has_mark(const struct explorer_fold *fold, const struct fold_line *line)
{
	const struct fold_node *node = &fold->nodes[line->node];
	return node->child_count && line->frame + 1 == node->frame_count;
}

void explorer_fold_toggle(struct explorer_fold *fold, uint32_t node)
{
	if (!fold->nodes[node].child_count)
		return;
	fold->nodes[node].is_open = !fold->nodes[node].is_open;
	explorer_fold_make_lines(fold);
}

void explorer_fold_set_all(struct explorer_fold *fold, bool is_open)
{
	fold->is_open = is_open;
	for (uint32_t i = 1; i < fold->node_count; i++)
		fold->nodes[i].is_open = is_open;
	explorer_fold_make_lines(fold);
}

bool explorer_fold_is_all_open(const struct explorer_fold *fold)
{
	for (uint32_t i = 1; i < fold->node_count; i++)
		if (fold->nodes[i].child_count && !fold->nodes[i].is_open)
			return false;
	return fold->is_open;
}

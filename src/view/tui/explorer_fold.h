/* SPDX-License-Identifier: Apache-2.0 */
/*
 * explorer_fold.h - tracks which call chains under one row of the explorer are open, and generates their lines.
 *
 * It copies the tree of call_tree, so that many rows can be open at a time. The caller calls explorer_fold_deinit.
 *
 *	struct explorer_fold fold;
 *	explorer_fold_init(&fold, &builder, row, &(struct fold_options){.total = total, .row_period = period}, err);
 *	explorer_fold_toggle(&fold, fold.lines[0].node);
 *	explorer_fold_deinit(&fold);
 */
#ifndef VIEW_TUI_EXPLORER_FOLD_H
#define VIEW_TUI_EXPLORER_FOLD_H

#include "view/text/chain_text.h"

struct fold_options {
	const struct chain_options *chains;
	uint64_t total, row_period; /* Total that percentages of graphs are relative to, and period of the row. */
	bool is_open; /* Open all nodes. */
};

struct fold_node {
	uint32_t parent; /* Node 0 is the root, which has no lines. */
	uint32_t first_child, child_count;
	uint32_t first_frame, frame_count; /* Range in explorer_fold.frames. */
	uint32_t depth; /* Level of indentation. */
	uint64_t period, count;
	uint64_t total; /* Total that its percentage is relative to. */
	bool has_value; /* Its value is displayed, because it has siblings or its value differs from the one above. */
	bool is_open;
};

struct fold_line {
	uint32_t node, frame; /* frame is an index in the node's frames. */
};

struct explorer_fold {
	struct fold_node *nodes;
	uint32_t node_count;
	uint32_t *frames; /* Frames of the profile. */
	size_t frame_count;
	struct fold_line *lines; /* Visible lines; there is space for all lines. */
	size_t line_count;
	bool is_open; /* The row has visible lines. */
};

/* Returns whether the frames after the first one are indented by one level: without that, they would look like siblings
 * of the first one, which has a value. */
static inline bool explorer_fold_is_indented(const struct fold_node *node)
{
	return node->has_value && node->frame_count > 1;
}
TALLY_MUST_CHECK enum tally_status explorer_fold_init(struct explorer_fold *fold, struct call_tree_builder *builder,
	uint32_t row, const struct fold_options *options, struct tally_error *err);
void explorer_fold_deinit(struct explorer_fold *fold);
/* Returns whether the line has a mark for its open or closed children. */
bool explorer_fold_has_mark(const struct explorer_fold *fold, const struct fold_line *line);
/* Opens or closes the nodes below this node, if there are any. */
void explorer_fold_toggle(struct explorer_fold *fold, uint32_t node);
/* Opens or closes the row and all of its nodes. */
void explorer_fold_set_all(struct explorer_fold *fold, bool is_open);
bool explorer_fold_is_all_open(const struct explorer_fold *fold);

#endif

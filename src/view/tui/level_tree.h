/* SPDX-License-Identifier: Apache-2.0 */
/*
 * level_tree.h - converts a hierarchy of sort keys into a tree for tree_screen and flame_screen: a node for each value
 * of a level, below the node of the preceding level. Values are those of the table's first event.
 *
 * The caller frees the tree with flame_tree_deinit; it borrows the profile, but not the hierarchy.
 *
 *	level_tree_init(&tree, &hierarchy, &options, err);
 */
#ifndef VIEW_TUI_LEVEL_TREE_H
#define VIEW_TUI_LEVEL_TREE_H

#include "profile/flame_tree.h"
#include "profile/rows/hierarchy.h"
#include "view/text/report_options.h"

/* options must contain the levels of its columns. */
TALLY_MUST_CHECK enum tally_status level_tree_init(struct flame_tree *tree, const struct hierarchy *hierarchy,
	const struct report_text_options *options, struct tally_error *err);

#endif

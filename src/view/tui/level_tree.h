/* SPDX-License-Identifier: Apache-2.0 */
/*
 * level_tree.h - makes a tree of a hierarchy of sort keys that tree_screen and flame_screen can show: a node for each
 * value of a level, below the node of the level before. Values are those of the table's first event.
 *
 * The caller deinits the tree (flame_tree_deinit); it borrows the profile, but nothing of the hierarchy.
 *
 *	level_tree_init(&tree, &hierarchy, &options, err);
 */
#ifndef VIEW_TUI_LEVEL_TREE_H
#define VIEW_TUI_LEVEL_TREE_H

#include "profile/flame_tree.h"
#include "profile/rows/hierarchy.h"
#include "view/text/report_options.h"

/* options: with the levels of its columns. */
TALLY_MUST_CHECK enum tally_status level_tree_init(struct flame_tree *tree, const struct hierarchy *hierarchy,
	const struct report_text_options *options, struct tally_error *err);

#endif

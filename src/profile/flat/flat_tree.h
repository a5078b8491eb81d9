/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flat_tree.h - the order of rows that are put one after another into a balanced binary tree. Internal to flat_words.
 *
 * Where chains decide between rows of one thread, and keys between those of several, three rows may each come before the
 * next: then it is the way of sorting that decides. perf's readers put rows into a red-black tree, in the order of their
 * keys; this is the textbook's, and so has the same shape. What a comparison needs is in few numbers, as most of the time
 * goes there.
 *
 *	flat_tree_order(rows, count, true, order);
 */
#ifndef PROFILE_FLAT_FLAT_TREE_H
#define PROFILE_FLAT_FLAT_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct flat_tree_row {
	uint64_t tie; /* of rows with the same one and the same thread the depth decides, if it differs */
	uint32_t thread, depth;
	uint32_t rank; /* which decides else */
	uint32_t row; /* what is told of it in the end */
};

/* rows: in the order in which they are put into the tree. False: out of memory. */
bool flat_tree_order(const struct flat_tree_row *rows, size_t count, bool is_deepest_first, uint32_t *order);

#endif

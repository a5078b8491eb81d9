/* SPDX-License-Identifier: Apache-2.0 */
/*
 * diff_sides.h - expands "--base A1 A2 A3 --new B1 B2", where an option is followed by any number of words so that
 * shell patterns can be used, to "--base A1 --base A2 ...", which the option table can parse.
 *
 * The caller frees the new argv, which borrows the words of the old one.
 *
 *	char **words = diff_sides_expand(&argc, argv);
 */
#ifndef VERBS_DIFF_DIFF_SIDES_H
#define VERBS_DIFF_DIFF_SIDES_H

/* Returns NULL if out of memory. */
char **diff_sides_expand(int *argc, char **argv);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * diff_sides.h - parses "--base A1 A2 A3 --new B1 B2": options that take all words up to the next option, so that shell
 * patterns can be used. The words become options of their own ("--base A1 --base A2 ..."), which the table then parses.
 *
 * The caller frees the new argv; its words are those of the old.
 *
 *	char **words = diff_sides_expand(&argc, argv);
 */
#ifndef VERBS_DIFF_DIFF_SIDES_H
#define VERBS_DIFF_DIFF_SIDES_H

/* NULL: out of memory. */
char **diff_sides_expand(int *argc, char **argv);

#endif

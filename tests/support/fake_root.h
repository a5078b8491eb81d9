/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fake_root.h - makes a directory tree of small files (/proc, /sys, tracefs) from plain text, to be the root of the
 * kernel seam.
 *
 * Each line is "PATH: CONTENT"; "\n" in the content is a newline; a PATH that ends with a slash is an empty
 * directory. The tree is in a fresh temporary directory; fake_root_remove deletes it.
 */
#ifndef TESTS_SUPPORT_FAKE_ROOT_H
#define TESTS_SUPPORT_FAKE_ROOT_H

/* Returns the path of the directory, which fake_root_remove frees. Stops the program on errors. */
char *fake_root_make(const char *text);
/* Makes the tree that tests/data/roots/NAME.txt describes (TEST_FIXTURES is the path of tests/data). */
char *fake_root_load(const char *name);
void fake_root_remove(char *root);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fake_root.h - makes a directory tree of small files (/proc, /sys, tracefs) from plain text, for the kernel seam's
 * root.
 *
 * Each line is "PATH: CONTENT"; "\n" in the content is a newline; a PATH that ends with a slash is an empty directory.
 * The tree is in a fresh temporary directory; fake_root_remove deletes it.
 */
#ifndef TESTS_SUPPORT_FAKE_ROOT_H
#define TESTS_SUPPORT_FAKE_ROOT_H

/* The directory's path, from malloc; stops the program if it cannot be made. */
char *fake_root_make(const char *text);
/* The same from tests/data/roots/NAME.txt (TEST_FIXTURES is the path of tests/data). */
char *fake_root_load(const char *name);
void fake_root_remove(char *root);

#endif

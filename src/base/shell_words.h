/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shell_words.h - splits a command line into words as a shell does: at blanks, with '...', "..." and \ for blanks in
 * words. Nothing is expanded: $, * and ~ stay as they are.
 *
 *	char **words;
 *	if (!shell_words_split(line, &words)) ...   // a quotation mark without its end, or out of memory
 *	free(words);
 */
#ifndef BASE_SHELL_WORDS_H
#define BASE_SHELL_WORDS_H

#include "base/bytes.h"

/* words: NULL-terminated, in one block of memory, which the caller frees. NULL, and false: out of memory. Not NULL, and
 * false: a quotation mark is not closed; the words up to there are complete. */
bool shell_words_split(struct tally_str line, char ***words);

#endif

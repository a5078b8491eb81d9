/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shell_words.h - splits a command line into words as a shell does, with '...', "..." and \ for blanks in words, and
 * quotes words for a shell. $, * and ~ are not expanded.
 *
 *	char **words;
 *	if (!shell_words_split(line, &words)) ...   // a quotation mark without its end, or out of memory
 *	free(words);
 */
#ifndef BASE_SHELL_WORDS_H
#define BASE_SHELL_WORDS_H

#include "base/text.h"

/*
 * Stores the words, NULL-terminated, in one block that the caller frees. On failure, *words is NULL if memory ran out;
 * otherwise a quotation mark is not closed, and *words contains the complete words before it, and must also be freed.
 */
bool shell_words_split(struct tally_str line, char ***words);
/* Appends a word, quoted by '...' unless all its characters are literal in every shell. */
void shell_words_put(struct text *text, struct tally_str word);
/* Appends a word that is always quoted. */
void shell_words_put_quoted(struct text *text, struct tally_str word);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shell_words.h - splits a command line into words as a shell does: at blanks, with '...', "..." and \ for blanks in
 * words. Nothing is expanded: $, * and ~ stay as they are. And the other way round: writes words for a shell.
 *
 *	char **words;
 *	if (!shell_words_split(line, &words)) ...   // a quotation mark without its end, or out of memory
 *	free(words);
 */
#ifndef BASE_SHELL_WORDS_H
#define BASE_SHELL_WORDS_H

#include "base/text.h"

/* words: NULL-terminated, in one block of memory, which the caller frees. NULL, and false: out of memory. Not NULL, and
 * false: a quotation mark is not closed; the words up to there are complete. */
bool shell_words_split(struct tally_str line, char ***words);
/* Appends a word as a shell reads it: in '...', unless it has only characters that mean nothing to any shell. */
void shell_words_put(struct text *text, struct tally_str word);
/* The same, always in '...'. */
void shell_words_put_quoted(struct text *text, struct tally_str word);

#endif

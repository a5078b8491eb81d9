/* SPDX-License-Identifier: Apache-2.0 */
/*
 * word_list.h - splits a list of words in an option's argument: separated by commas, or one per line if it contains
 * line ends. In a list with line ends, words may contain commas.
 *
 *	if (word_list_has("cc1,ld", STR("ld"))) ...
 */
#ifndef BASE_WORD_LIST_H
#define BASE_WORD_LIST_H

#include "base/bytes.h"

/* Splits off the next word; false at the end. rest must initially be the list. */
bool word_list_next(const char *list, struct tally_str *rest, struct tally_str *word);
/* Returns true if the list contains word. Blanks around words of the list are ignored. */
bool word_list_has(const char *list, struct tally_str word);
bool word_list_has_number(const char *list, int32_t number);
/* Returns the only word of a list; its length is 0 if the list is empty or has more words. */
struct tally_str word_list_single(const char *list);

#endif

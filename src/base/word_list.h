/* SPDX-License-Identifier: Apache-2.0 */
/*
 * word_list.h - splits a list of words as options take it: separated by commas, or one per line if the text has line
 * ends. Words on lines of their own may contain commas.
 *
 *	if (word_list_has("cc1,ld", STR("ld"))) ...
 */
#ifndef BASE_WORD_LIST_H
#define BASE_WORD_LIST_H

#include "base/bytes.h"

/* Splits off the next word; false when rest is used up. rest starts as the list. */
bool word_list_next(const char *list, struct tally_str *rest, struct tally_str *word);
/* Ignores blanks around the words of the list. */
bool word_list_has(const char *list, struct tally_str word);
bool word_list_has_number(const char *list, int32_t number);
/* The word of a list that has exactly one; len 0 if the list is empty or has more. */
struct tally_str word_list_single(const char *list);

#endif

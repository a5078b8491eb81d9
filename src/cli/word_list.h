/*
 * word_list.h - a text of words with commas between, as options take it: asked for a word. Holds nothing.
 *
 *	if (word_list_has("cc1,ld", STR("ld"))) ...
 */
#ifndef CLI_WORD_LIST_H
#define CLI_WORD_LIST_H

#include "base/bytes.h"

bool word_list_has(const char *list, struct tally_str word);
bool word_list_has_number(const char *list, int32_t number);

#endif
